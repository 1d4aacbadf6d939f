import { isAddress as isSolanaAddress } from '@solana/kit'
import { isAddress, zeroAddress } from 'viem'
import type { ChainConfig, GasFloatConfig, NetworkConfig } from '../config.ts'
import { kindOf } from '../venues/registry.ts'
import { type Check, indicesOf, type Problem } from './shape.ts'

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

function hasPublishedKey(address: string): boolean {
  return PUBLISHED.has(address.toLowerCase())
}

/** An address of the configuration, its role, and its path. */
type Named = { address: string; path: string; what: string }

// The fields that `rolesOf` reads, and `contractsOf` for one chain.
const ROLES = [
  '/relayers',
  '/authorizationRelayers',
  '/deliverers',
  '/attesters',
  '/nextAttesters',
  '/treasury',
  '/guardian',
  '/gasFloat',
  '/chains/*/family',
  '/chains/*/vault',
  '/chains/*/attester',
  '/chains/*/feePayers',
]
const CONTRACTS = ['family', 'contracts', 'olderAccounts', 'program']

/** Finds addresses that are mistyped, have two roles, or have a published key. */
export function addressChecks(network: NetworkConfig): Check[] {
  const ofChains = indicesOf(network?.chains).flatMap((index): Check[] => {
    const at = (...fields: string[]) => fields.map((field) => `/chains/${index}/${field}`)
    const chain = () => network.chains.slice(index, index + 1)
    const tokens = () => chain().flatMap((each) => tokensOf(each, index))
    const contracts = () => chain().flatMap((each) => contractsOf(each, index))
    return [
      { reads: at('tokens'), find: () => findContractProblems(tokens()) },
      { reads: at(...CONTRACTS), find: () => findContractProblems(contracts()) },
      {
        reads: [...at('tokens', ...CONTRACTS), ...ROLES],
        find: () => findDoubleRoles([...contracts(), ...tokens()], rolesOf(network)),
      },
    ]
  })
  return [
    { reads: ROLES, find: () => findRoleProblems(rolesOf(network)) },
    {
      reads: ['/relayers', '/authorizationRelayers', '/deliverers', '/retiring'],
      find: () => findRetiringProblems(network),
    },
    ...ofChains,
    { reads: ['/assets/*/sources'], find: () => feedsOf(network).flatMap(findMistyped) },
    { reads: ['/venues'], find: () => venuesOf(network).flatMap(findMistyped) },
    {
      reads: ['/chains/*/family', '/chains/*/l1FeeOracle'],
      find: () => oraclesOf(network).flatMap(findMistyped),
    },
  ]
}

function findRoleProblems(roles: readonly Named[]): Problem[] {
  return [...roles.flatMap(findMistyped), ...findDoubleRoles(roles), ...roles.flatMap(findPublished)]
}

function findContractProblems(contracts: readonly Named[]): Problem[] {
  return [...contracts.flatMap(findMistyped), ...contracts.flatMap(findSystemAddress)]
}

/** All addresses with a role. Each key has one role only. */
export function rolesOf(network: NetworkConfig): Named[] {
  const {
    relayers,
    authorizationRelayers,
    deliverers,
    attesters,
    nextAttesters = { members: [] },
    treasury,
    guardian,
    chains,
    gasFloat = {} as Partial<GasFloatConfig>,
  } = network
  const solana = chains.flatMap((chain, index) => {
    if (chain.family !== 'solana') return []
    const { vault, attester, feePayers } = chain
    const at = (field: string) => `/chains/${index}/${field}`
    return [
      { address: vault, path: at('vault'), what: 'the vault' },
      { address: attester, path: at('attester'), what: 'the attester of this chain' },
      { address: feePayers.input, path: at('feePayers/input'), what: 'the fee payer of inputs' },
      { address: feePayers.delivery, path: at('feePayers/delivery'), what: 'the fee payer of deliveries' },
    ]
  })
  return [
    ...relayers.map((address, index) => ({ address, path: `/relayers/${index}`, what: 'a relayer' })),
    ...authorizationRelayers.map((address, index) => ({
      address,
      path: `/authorizationRelayers/${index}`,
      what: 'a relayer of authorizations',
    })),
    ...deliverers.map((address, index) => ({ address, path: `/deliverers/${index}`, what: 'a deliverer' })),
    ...attesters.members.map((address, index) => ({
      address,
      path: `/attesters/members/${index}`,
      what: 'an attester',
    })),
    // Members may stay.
    ...nextAttesters.members.flatMap((address, index) =>
      attesters.members.some((member) => member.toLowerCase() === address.toLowerCase())
        ? []
        : [{ address, path: `/nextAttesters/members/${index}`, what: 'a next attester' }],
    ),
    ...(treasury === undefined ? [] : [{ address: treasury, path: '/treasury', what: 'the treasury' }]),
    ...(guardian === undefined ? [] : [{ address: guardian, path: '/guardian', what: 'the guardian' }]),
    ...(gasFloat.evm ? [{ address: gasFloat.evm, path: '/gasFloat/evm', what: 'the gas float' }] : []),
    ...(gasFloat.solana
      ? [{ address: gasFloat.solana, path: '/gasFloat/solana', what: 'the gas float' }]
      : []),
    ...solana,
  ]
}

/** Retiring keys must leave at least one active key per role. */
function findRetiringProblems(network: NetworkConfig): Problem[] {
  const { relayers, authorizationRelayers, deliverers, retiring = [] } = network
  const isRetiring = (address: string) =>
    retiring.some((each) => each.toLowerCase() === address.toLowerCase())
  const known = new Set(
    [...relayers, ...authorizationRelayers, ...deliverers].map((address) => address.toLowerCase()),
  )
  const strangers = retiring.flatMap((address, index) =>
    known.has(address.toLowerCase())
      ? []
      : [{ path: `/retiring/${index}`, message: `${address} is neither a relayer nor a deliverer` }],
  )
  const allOf = (group: readonly string[], what: string) =>
    group.every(isRetiring) ? [{ path: '/retiring', message: `at least one ${what} has to stay active` }] : []
  return [
    ...strangers,
    ...allOf(relayers, 'relayer'),
    ...allOf(authorizationRelayers, 'relayer of authorizations'),
    ...allOf(deliverers, 'deliverer'),
  ]
}

function tokensOf({ tokens }: ChainConfig, index: number): Named[] {
  return tokens.map(({ address, symbol }, position) => ({
    address,
    path: `/chains/${index}/tokens/${position}/address`,
    what: `the token ${symbol}`,
  }))
}

function contractsOf(chain: ChainConfig, index: number): Named[] {
  const at = `/chains/${index}`
  if (chain.family === 'solana')
    return [{ address: chain.program, path: `${at}/program`, what: 'the escrow program' }]
  const contracts = Object.entries(chain.contracts).map(([name, address]) => ({
    address,
    path: `${at}/contracts/${name}`,
    what: `the ${name} contract`,
  }))
  const older = (chain.olderAccounts ?? []).map((address, position) => ({
    address,
    path: `${at}/olderAccounts/${position}`,
    what: 'an older account',
  }))
  return [...contracts, ...older]
}

function feedsOf({ assets }: NetworkConfig): Named[] {
  return assets.flatMap(({ sources }, asset) =>
    sources.flatMap((source, index) =>
      source.kind === 'chainlink'
        ? [{ address: source.address, path: `/assets/${asset}/sources/${index}/address`, what: 'a feed' }]
        : [],
    ),
  )
}

function venuesOf({ venues = [] }: NetworkConfig): Named[] {
  return venues.flatMap((venue, index) =>
    Object.entries(kindOf(venue).contractsOf?.(venue) ?? {}).map(([name, address]) => ({
      address,
      path: `/venues/${index}/${name}`,
      what: `the ${name}`,
    })),
  )
}

function oraclesOf({ chains }: NetworkConfig): Named[] {
  return chains.flatMap((chain, index) =>
    chain.family === 'evm' && chain.l1FeeOracle
      ? [{ address: chain.l1FeeOracle, path: `/chains/${index}/l1FeeOracle`, what: 'the fee oracle' }]
      : [],
  )
}

function findMistyped({ address, path, what }: Named): Problem[] {
  if (!address.startsWith('0x')) {
    return isSolanaAddress(address) ? [] : [{ path, message: `${address} is not a 32-byte address` }]
  }
  // Only mixed case carries a checksum.
  if (!isAddress(address)) return [{ path, message: `${address} has a wrong checksum` }]
  return address === zeroAddress ? [{ path, message: `${what} cannot be the zero address` }] : []
}

function findPublished({ address, path, what }: Named): Problem[] {
  if (!hasPublishedKey(address)) return []
  return [{ path, message: `${address} cannot be ${what}: its key is published with Hardhat and Anvil` }]
}

// Addresses that chains reserve for themselves, such as the token form of Polygon's coin.
const SYSTEM_ADDRESS = /^0x0{36}(?!0{4})/

/** A coin that is also a token would be counted twice: paying one reduces the other. */
function findSystemAddress({ address, path, what }: Named): Problem[] {
  if (!SYSTEM_ADDRESS.test(address)) return []
  return [{ path, message: `${address} is reserved by the chain, and cannot be ${what}` }]
}

/** Finds addresses with two roles. One contract may have the same address on all chains. */
function findDoubleRoles(named: readonly Named[], before: readonly Named[] = []): Problem[] {
  const keyOf = ({ address }: Named) => (address.startsWith('0x') ? address.toLowerCase() : address)
  const seen = new Map(before.map((each) => [keyOf(each), each.what]))
  return named.flatMap((each) => {
    const { address, path, what } = each
    const other = seen.get(keyOf(each))
    if (other !== undefined)
      return [{ path, message: `${address} is already ${other}, and cannot be ${what}` }]
    seen.set(keyOf(each), what)
    return []
  })
}
