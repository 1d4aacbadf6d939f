import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddressDecoder } from '@solana/kit'
import { getAddress, toHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressKeyOf } from '../compose/screening.ts'
import { createScreening, type Screening } from './denials.ts'
import { createListSource } from './list.ts'
import { createScreen } from './screening.ts'

const EACH = 5_000
const evm = () => getAddress(toHex(randomBytes(20)))
const solana = () => getAddressDecoder().decode(randomBytes(32))
const some = (of: () => string) => Array.from({ length: EACH }, of)

const listed = { evm: some(evm), solana: some(solana) }
const others = { evm: some(evm), solana: some(solana) }
const folder = mkdtempSync(join(tmpdir(), 'figures-'))
afterAll(() => rmSync(folder, { recursive: true }))

let screening: Screening
beforeAll(async () => {
  const file = join(folder, 'list.txt')
  writeFileSync(file, [...listed.evm, ...listed.solana].join('\n'))
  const list = createListSource({ file, keyOf: addressKeyOf, name: 'own', onUnknown: 'deny' })
  await list.refresh()
  const screen = createScreen({ sources: [list], overrideOf: () => undefined, budgetMs: 500, onOutcome() {} })
  screening = createScreening(
    { screen, isStrict: true, insert: async () => {} },
    { onDecided() {}, onFault() {} },
  )
})

const at = { point: 'quote', accountId: 'acct' } as const
const isDenied = (address: string) =>
  screening.ofCaller([{ address, chainId: 1, role: 'wallet' }], at) === 'deny'
const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`
const flipped = (address: string) =>
  address.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )

test('of 10,000 listed addresses none is missed, and of 10,000 others none is denied', () => {
  const spelled = [
    ...listed.evm.map(upper),
    ...listed.evm.map((each) => each.toLowerCase()),
    ...listed.solana,
  ]

  expect(spelled.filter((address) => !isDenied(address))).toEqual([])
  expect([...others.evm, ...others.solana].filter(isDenied)).toEqual([])
})

test('an address of Solana in another case is another address', () => {
  expect(listed.solana.map(flipped).filter(isDenied)).toEqual([])
})

test('a list file adds at most 2 ms to a quote at the 95th percentile', () => {
  const times = others.evm.map((wallet, index) => {
    const recipient = others.solana[index] ?? ''
    const begun = performance.now()
    screening.ofCaller(
      [
        { address: wallet, chainId: 1, role: 'wallet' },
        { address: recipient, chainId: 2, role: 'recipient' },
      ],
      at,
    )
    return performance.now() - begun
  })
  const p95 = times.sort((a, b) => a - b)[Math.floor(EACH * 0.95)] ?? Number.NaN

  process.stdout.write(`p95 of wallet and recipient by a list of 10,000: ${(p95 * 1_000).toFixed(1)} µs\n`)
  expect(p95).toBeLessThan(2)
})
