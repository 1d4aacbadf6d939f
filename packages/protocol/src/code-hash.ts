import { type Hex, keccak256 } from 'viem'

/** Compiled runtime code, with 32 zero bytes wherever the constructor writes an immutable. */
export type RuntimeCode = { bytecode: Hex; immutables: readonly number[] }

/** The hash of deployed code with its immutables blanked: equal for every contract of the same source. */
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
