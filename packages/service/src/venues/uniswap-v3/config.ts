import Type, { type Static } from 'typebox'
import { type Address, getAddress } from 'viem'
import { address, chainId, count, range, strict } from '../../config/fields.ts'
import { findRepeated, type Problem } from '../../config/shape.ts'
import type { Served, VenueFields } from '../kind.ts'

/** Outputs bought from pools of one chain, in the transaction that delivers them. */
const schema = Type.Object(
  {
    kind: Type.Literal('uniswap-v3', {
      description: 'Pools of one chain that outputs are bought from at delivery.',
    }),
    chainId: chainId('Chain of the pools.'),
    quoter: address('The QuoterV2 of the pools.'),
    adapter: address('The adapter that `service deploy` created; the vault has to allow it.'),
    maxDeviationBps: Type.Optional(
      range(
        1,
        9_999,
        'A pool is not quoted from if it is dearer than the reference price by more than this and its fee, nor ' +
          'bought from if it gives less than quoted by more than this, in basis points. Default 150.',
      ),
    ),
    pools: Type.Array(
      Type.Object(
        {
          sell: address('Token that the vault pays with; should be a stable that it holds.'),
          buy: address('Token that is delivered.'),
          fee: count('Fee of the pool, in millionths.'),
        },
        strict,
      ),
      { minItems: 1, description: 'Pools that may be used. Native coin is not bought.' },
    ),
  },
  strict,
)

export type UniswapV3Config = Static<typeof schema>

export const deviationOf = ({ maxDeviationBps = 150 }: UniswapV3Config): number => maxDeviationBps

/** Sells `buy` for `sell`; the fee is in millionths. */
export type Pool = { sell: Address; buy: Address; fee: number }

export const uniswapV3Fields = {
  name: 'uniswap-v3',
  schema,
  titleOf: ({ chainId }: UniswapV3Config) => `uniswap-v3 on ${chainId}`,
  findProblems,
  contractsOf: ({ quoter, adapter }: UniswapV3Config) => ({ quoter, adapter }),
} satisfies VenueFields<UniswapV3Config>

export function poolsOf({ pools }: UniswapV3Config): Pool[] {
  return pools.map(({ sell, buy, fee }) => ({ sell: getAddress(sell), buy: getAddress(buy), fee }))
}

function findProblems({ chainId, pools }: UniswapV3Config, { chains }: Served): Problem[] {
  const chain = chains.find((each) => each.chainId === chainId)
  if (!chain?.hasContracts) return [{ path: '/chainId', message: `no EVM chain ${chainId} is configured` }]
  const isToken = (address: string) =>
    chain.tokens.some((token) => token.address.toLowerCase() === address.toLowerCase())
  const traded = pools.map(({ sell, buy }) => `${sell} for ${buy}`.toLowerCase())
  return [
    ...findRepeated(
      traded,
      (pair) => pair,
      (index) => `/pools/${index}`,
    ),
    ...pools.flatMap(({ sell, buy, fee }, index) => [
      ...(['sell', 'buy'] as const).flatMap((side) => {
        const address = side === 'sell' ? sell : buy
        const path = `/pools/${index}/${side}`
        return isToken(address)
          ? []
          : [{ path, message: `${address} is not one of the tokens of ${chain.name}` }]
      }),
      ...(sell.toLowerCase() === buy.toLowerCase()
        ? [{ path: `/pools/${index}/buy`, message: 'a pool needs two different tokens' }]
        : []),
      ...(fee < 1_000_000
        ? []
        : [{ path: `/pools/${index}/fee`, message: 'must be below 1000000: it is in millionths' }]),
    ]),
  ]
}
