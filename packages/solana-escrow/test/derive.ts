import { createHash } from 'node:crypto'
import { type Address, isOffCurveAddress } from '@solana/kit'
import { addressOf, bytesOf } from './transaction.ts'

/** The addresses of a program and seeds, the one of the highest bump first. */
export function* derive(program: Address, seeds: readonly Uint8Array[]): Generator<Address, void> {
  for (let bump = 255; bump >= 0; bump -= 1) {
    const hash = createHash('sha256')
    for (const seed of [...seeds, Uint8Array.of(bump), bytesOf(program)]) hash.update(seed)
    const derived = addressOf(hash.update('ProgramDerivedAddress').digest())
    if (isOffCurveAddress(derived)) yield derived
  }
}
