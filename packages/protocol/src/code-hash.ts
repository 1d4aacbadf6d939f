import { type Hex, keccak256 } from 'viem'

/** Runtime code as it was compiled, with 32 zero bytes wherever the constructor writes a value. */
export type RuntimeCode = { bytecode: Hex; immutables: readonly number[] }

/** The hash of what a chain holds, its immutables blanked: equal for every contract of the same source. */
export function hashCode(code: Hex, { immutables }: Pick<RuntimeCode, 'immutables'>): Hex {
  return keccak256(immutables.reduce(blank, code))
}

export function isCodeOf(code: Hex, runtime: RuntimeCode): boolean {
  return hashCode(code, runtime) === keccak256(runtime.bytecode)
}

function blank(code: Hex, start: number): Hex {
  const from = 2 + start * 2
  return `${code.slice(0, from)}${'0'.repeat(64)}${code.slice(from + 64)}` as Hex
}
