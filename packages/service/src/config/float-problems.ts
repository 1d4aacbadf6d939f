import { parseUnits } from 'viem'
import type { GasFloatConfig, NetworkConfig } from '../config.ts'
import { findRepeated } from './repeated.ts'
import type { Problem } from './shape.ts'

const DECIMALS = { evm: 18, solana: 9 }

/** Finds gas floats that could never pay, or would top up forever. */
export function findFloatProblems({ gasFloat, chains }: NetworkConfig): Problem[] {
  if (!gasFloat) return []
  const repeated = findRepeated(
    gasFloat.chains,
    ({ chainId }) => chainId,
    (index) => `/gasFloat/chains/${index}/chainId`,
  )
  const each = gasFloat.chains.flatMap((float, index) => {
    const family = chains.find(({ chainId }) => chainId === float.chainId)?.family
    const at = (name: string) => `/gasFloat/chains/${index}/${name}`
    if (!family) return [{ path: at('chainId'), message: `no chain ${float.chainId} is configured` }]
    const problems: Problem[] = []
    if (!gasFloat[family])
      problems.push({ path: at('chainId'), message: `gasFloat has no ${family} address` })
    const { low, target, maxPerDay } = inUnits(float, DECIMALS[family])
    if (low === 0n) problems.push({ path: at('low'), message: 'must be above 0' })
    if (target <= low) problems.push({ path: at('target'), message: 'must be above low' })
    if (maxPerDay < target)
      problems.push({ path: at('maxPerDay'), message: 'must be at least target, to fill one empty key' })
    return problems
  })
  // No process would load its key, and the key would then be missing.
  const idle = (['evm', 'solana'] as const)
    .filter((family) => gasFloat[family] && !chains.some((chain) => chain.family === family))
    .map((family) => ({ path: `/gasFloat/${family}`, message: `no chain of family ${family} is configured` }))
  return [...repeated, ...each, ...idle]
}

type FloatChain = GasFloatConfig['chains'][number]

function inUnits({ low, target, maxPerDay }: FloatChain, decimals: number) {
  const parse = (coins: string) => parseUnits(coins, decimals)
  return { low: parse(low), target: parse(target), maxPerDay: parse(maxPerDay) }
}
