import { isAddress } from '@solana/kit'
import Type, { type Static } from 'typebox'
import {
  anyChain,
  decimal,
  digits,
  type Finished,
  nativeOf,
  solanaAddress,
  strict,
  TOKENS,
  text,
  tokenOf,
} from '../../config/fields.ts'
import type { Problem } from '../../config/shape.ts'
import type { ConfigRules, Named } from '../family.ts'

/** The service itself keeps this cap, as a contract does elsewhere. */
const payoutCap = {
  capPerHour: Type.Optional(
    decimal(
      'Most that the vault pays out, in whole coins per hour. 0 is closed on purpose. ' +
        'Default: half of what it held at the beginning of the hour.',
    ),
  ),
}

export const SolanaChain = Type.Object(
  {
    ...anyChain,
    family: Type.Literal('solana', { description: 'A Solana cluster.' }),
    native: nativeOf(payoutCap),
    genesisHash: Type.Optional(text('Genesis hash of the cluster; checked at start.')),
    program: solanaAddress('The escrow program, as `service deploy` uploaded it.'),
    vault: solanaAddress(
      'Authority of the accounts that pay deliveries and receive claims. Its own lamports are the native coin.',
    ),
    attester: solanaAddress('Key that signs claims and early refunds on this chain.'),
    feePayers: Type.Object(
      {
        input: solanaAddress('Pays fees of inputs, claims and refunds, and the rent of escrow accounts.'),
        delivery: solanaAddress('Pays fees of deliveries, and the rent of their markers.'),
      },
      { ...strict, description: 'Fee payers. They hold SOL and own no token account of a served mint.' },
    ),
    tokens: Type.Array(tokenOf(solanaAddress('Address of the mint.'), payoutCap), TOKENS),
    priorityPrice: Type.Optional(
      Type.Object(
        { floor: digits('Lower bound. Default 1000.'), cap: digits('Upper bound. Default 1000000.') },
        {
          ...strict,
          description:
            'Bounds of the priority price, in millionths of a lamport per compute unit. ' +
            'Between them it is what three of four recent blocks accepted.',
        },
      ),
    ),
  },
  strict,
)

export type SolanaChainConfig = Static<typeof SolanaChain> & Finished

export const solanaConfigRules: ConfigRules<SolanaChainConfig> = {
  roles: { fields: ['vault', 'attester', 'feePayers'], of: rolesOf },
  contracts: { fields: ['program'], of: contractsOf },
  checks: [{ fields: ['priorityPrice'], find: findPriceProblems }],
}

function rolesOf({ vault, attester, feePayers }: SolanaChainConfig): Named[] {
  return [
    { address: vault, path: '/vault', what: 'the vault' },
    { address: attester, path: '/attester', what: 'the attester of this chain' },
    { address: feePayers.input, path: '/feePayers/input', what: 'the fee payer of inputs' },
    { address: feePayers.delivery, path: '/feePayers/delivery', what: 'the fee payer of deliveries' },
  ]
}

function contractsOf({ program }: SolanaChainConfig): Named[] {
  return [{ address: program, path: '/program', what: 'the escrow program' }]
}

function findPriceProblems({ priorityPrice }: SolanaChainConfig): Problem[] {
  if (!priorityPrice || BigInt(priorityPrice.cap) >= BigInt(priorityPrice.floor)) return []
  return [{ path: '/priorityPrice/cap', message: 'must not be below floor' }]
}

export function findSolanaFault(address: string): string | undefined {
  return isAddress(address) ? undefined : `${address} is not a 32-byte address`
}
