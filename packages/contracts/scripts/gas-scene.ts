import { type Hex, keccak256, type PrivateKeyAccount, toHex } from 'viem'
import { DAY, type World, withRevert } from '../test/world.ts'

/** One measured kind of transaction, per op. `goal` is the limit. */
export type GasRow = { name: string; goal: number; gas: number }

/** Nothing here depends on the clock or on chance, so a difference of one gas is a difference in the code. */
export const initialDate = '2026-01-01T00:00:00Z'
export const start = BigInt(Date.parse(initialDate) / 1_000)
export const deadlines = {
  opDeadline: start + 4_000n,
  fillDeadline: start + 9_000n,
  refundDeadline: start + 3n * DAY,
}
export const keyOf = (name: string): Hex => keccak256(toHex(name))

/** Realistic amounts of a dollar token with 6 decimals, so that calldata has its real cost. */
export const inputAmount = 1_234_567_890n
export const amounts = { inputAmount, minOutput: 1_227_811_111n, amountOut: 1_233_950_123n }

export type Scene = { world: World; wallets: PrivateKeyAccount[]; sponsor: PrivateKeyAccount }

export type Measured = [name: string, goal: number, measure: (scene: Scene) => Promise<bigint>]

export async function measureAll(scene: Scene, measured: readonly Measured[]): Promise<GasRow[]> {
  const rows: GasRow[] = []
  for (const [name, goal, measure] of measured) {
    rows.push({ name, goal, gas: Number(await withRevert(scene.world, () => measure(scene))) })
  }
  return rows
}
