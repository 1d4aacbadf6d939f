import Type, { type Static } from 'typebox'
import { isAddress, zeroAddress } from 'viem'
import {
  address,
  anyChain,
  decimal,
  digits,
  type Finished,
  flag,
  nativeOf,
  strict,
  TOKENS,
  tokenOf,
  wsUrl,
} from '../../config/fields.ts'
import type { Problem } from '../../config/shape.ts'
import type { ConfigRules, Named } from '../family.ts'

/** The hourly limits that the treasury sets in the contracts. */
const hourlyCaps = {
  capPerHour: Type.Optional(
    decimal(
      'Cap of the vault, in whole coins per hour: `service treasury` sets it. 0 is closed on purpose. ' +
        'Default: as the chain has it, which begins closed.',
    ),
  ),
  claimCapPerHour: Type.Optional(decimal('The same for claims from the escrow.')),
  refundCapPerHour: Type.Optional(
    decimal('The same for refunds before the refund deadline, which attesters sign. Later ones have no cap.'),
  ),
}

const plain = Type.Optional(
  flag(
    'Whether its transfers move exactly their amount, without a fee: `service treasury` tells the vault, which then ' +
      'pays with less gas. Default: as the chain has it.',
  ),
)

export const EvmChain = Type.Object(
  {
    ...anyChain,
    family: Type.Literal('evm', { description: 'A chain with an EVM.' }),
    native: nativeOf(hourlyCaps),
    contracts: Type.Object(
      {
        account: address('GeoAccount, the code that wallets delegate to.'),
        escrow: address('GeoEscrow, which holds inputs.'),
        vault: address('GeoVault, which holds the inventory.'),
      },
      { ...strict, description: 'Contracts as `service deploy` created them.' },
    ),
    olderAccounts: Type.Optional(
      Type.Array(address('A GeoAccount.'), {
        description: 'Earlier GeoAccounts: wallets delegated to them are asked to delegate anew.',
      }),
    ),
    tokens: Type.Array(tokenOf(address('Address with its checksum.'), { ...hourlyCaps, plain }), TOKENS),
    wsUrls: Type.Optional(
      Type.Array(wsUrl('A node.'), {
        minItems: 1,
        description:
          'URLs for `eth_subscribe newHeads`, tried in order. They only say when to read; state comes from `rpcUrls`.',
      }),
    ),
    tipWei: Type.Optional(
      digits('Fixed priority fee, in wei. Default: the median of what the nodes suggest.'),
    ),
    maxTipWei: Type.Optional(
      digits(
        'Upper bound of a suggested priority fee, in wei. ' +
          'Default: twice the base fee, and at least 100000000 (0.1 gwei).',
      ),
    ),
    l1FeeOracle: Type.Optional(
      address('OP stack: the GasPriceOracle, 0x420000000000000000000000000000000000000F. Adds data fees.'),
    ),
    l1Gas: Type.Optional(
      Type.Literal('arbitrum', {
        description:
          'Required for Arbitrum and chains of its stack: posting bytes to L1 is charged as gas, which nodes estimate.',
      }),
    ),
  },
  strict,
)

export type EvmChainConfig = Static<typeof EvmChain> & Finished

export const evmConfigRules: ConfigRules<EvmChainConfig> = {
  roles: { fields: [], of: () => [] },
  contracts: { fields: ['contracts', 'olderAccounts'], of: contractsOf },
  checks: [
    { fields: ['l1FeeOracle', 'l1Gas'], find: findDataFeeProblems },
    { fields: ['l1FeeOracle'], find: findOracleProblems },
  ],
}

function contractsOf({ contracts, olderAccounts = [] }: EvmChainConfig): Named[] {
  const current = Object.entries(contracts).map(([name, address]) => ({
    address,
    path: `/contracts/${name}`,
    what: `the ${name} contract`,
  }))
  const older = olderAccounts.map((address, position) => ({
    address,
    path: `/olderAccounts/${position}`,
    what: 'an older account',
  }))
  return [...current, ...older]
}

/** A chain charges for L1 data either in the gas or beside it. */
function findDataFeeProblems({ l1Gas, l1FeeOracle }: EvmChainConfig): Problem[] {
  if (!l1Gas || !l1FeeOracle) return []
  return [{ path: '/l1Gas', message: 'a chain with an l1FeeOracle charges for L1 data beside the gas' }]
}

function findOracleProblems({ l1FeeOracle }: EvmChainConfig): Problem[] {
  const message = l1FeeOracle && findEvmFault(l1FeeOracle, 'the fee oracle')
  return message ? [{ path: '/l1FeeOracle', message }] : []
}

export function findEvmFault(address: string, what: string): string | undefined {
  // Only mixed case carries a checksum.
  if (!isAddress(address)) return `${address} has a wrong checksum`
  return address === zeroAddress ? `${what} cannot be the zero address` : undefined
}

// Addresses that chains reserve for themselves, such as the token form of Polygon's coin.
const SYSTEM_ADDRESS = /^0x0{36}(?!0{4})/

/** A coin that is also a token would be counted twice: paying one reduces the other. */
export function findSystemAddress(address: string, what: string): string | undefined {
  return SYSTEM_ADDRESS.test(address)
    ? `${address} is reserved by the chain, and cannot be ${what}`
    : undefined
}

// The default accounts of Hardhat and Anvil. Their keys are public, and anything sent to them on a real chain is stolen
// in the next block.
const PUBLISHED = new Set([
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
  '0xbcd4042de499d14e55001ccbb24a551f3b954096',
  '0x71be63f3384f5fb98995898a86b02fb2426c5788',
  '0xfabb0ac9d68b0b445fb7357272ff202c5651694a',
  '0x1cbd3b2770909d4e10f157cabc84c7264073c9ec',
  '0xdf3e18d64bc6a983f673ab319ccae4f1a57c7097',
  '0xcd3b766ccdd6ae721141f452c550ca635964ce71',
  '0x2546bcd3c84621e976d8185a91a922ae77ecec30',
  '0xbda5747bfd65f08deb54cb465eb87d40e51b197e',
  '0xdd2fd4581271e230360230f9337d5c0430bf44c0',
  '0x8626f6940e2eb28930efb4cef49b2d1f2c9c1199',
])

export function findPublishedKey(address: string, what: string): string | undefined {
  if (!PUBLISHED.has(address.toLowerCase())) return undefined
  return `${address} cannot be ${what}: its key is published with Hardhat and Anvil`
}
