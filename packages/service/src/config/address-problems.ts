import { families, familyOf, familyOfAddress } from '../chains/families.ts'
import type { AddressRules, Named } from '../chains/family.ts'
import type { ChainFile, NetworkFile } from '../config.ts'
import { kindOf } from '../venues/registry.ts'
import { type Check, indicesOf, type Problem } from './shape.ts'

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
  ...families.flatMap(({ config }) => config.roles.fields.map((field) => `/chains/*/${field}`)),
]
const CONTRACTS = ['family', ...families.flatMap(({ config }) => config.contracts.fields)]

/** Finds addresses that are mistyped, have two roles, or have a published key. */
export function addressChecks(network: NetworkFile): Check[] {
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
  ]
}

function findRoleProblems(roles: readonly Named[]): Problem[] {
  return [
    ...roles.flatMap(findMistyped),
    ...findDoubleRoles(roles),
    ...roles.flatMap((role) => findFault(role, (rules) => rules.findRoleFault)),
  ]
}

function findContractProblems(contracts: readonly Named[]): Problem[] {
  return [
    ...contracts.flatMap(findMistyped),
    ...contracts.flatMap((each) => findFault(each, (rules) => rules.findContractFault)),
  ]
}

/** All addresses with a role. Each key has one role only. */
export function rolesOf(network: NetworkFile): Named[] {
  const {
    relayers,
    authorizationRelayers,
    deliverers,
    attesters,
    nextAttesters = { members: [] },
    treasury,
    guardian,
    chains,
    gasFloat,
  } = network
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
    ...families.flatMap(({ name }) => {
      const address = gasFloat?.[name]
      return address === undefined ? [] : [{ address, path: `/gasFloat/${name}`, what: 'the gas float' }]
    }),
    ...chains.flatMap((chain, index) => below(index, familyOf(chain).config.roles.of(chain))),
  ]
}

/** Retiring keys must leave at least one active key per role. */
function findRetiringProblems(network: NetworkFile): Problem[] {
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

function tokensOf({ tokens }: ChainFile, index: number): Named[] {
  return tokens.map(({ address, symbol }, position) => ({
    address,
    path: `/chains/${index}/tokens/${position}/address`,
    what: `the token ${symbol}`,
  }))
}

function contractsOf(chain: ChainFile, index: number): Named[] {
  return below(index, familyOf(chain).config.contracts.of(chain))
}

function below(index: number, named: readonly Named[]): Named[] {
  return named.map(({ path, ...each }) => ({ ...each, path: `/chains/${index}${path}` }))
}

function feedsOf({ assets }: NetworkFile): Named[] {
  return assets.flatMap(({ sources }, asset) =>
    sources.flatMap((source, index) =>
      source.kind === 'chainlink'
        ? [{ address: source.address, path: `/assets/${asset}/sources/${index}/address`, what: 'a feed' }]
        : [],
    ),
  )
}

function venuesOf({ venues = [] }: NetworkFile): Named[] {
  return venues.flatMap((venue, index) =>
    Object.entries(kindOf(venue).contractsOf?.(venue) ?? {}).map(([name, address]) => ({
      address,
      path: `/venues/${index}/${name}`,
      what: `the ${name}`,
    })),
  )
}

function findMistyped(named: Named): Problem[] {
  return findFault(named, (rules) => rules.findFault)
}

type Judge = (rules: AddressRules) => AddressRules['findFault'] | undefined

function findFault({ address, path, what }: Named, judgeOf: Judge): Problem[] {
  const rules = familyOfAddress(address)?.addresses
  const message = rules && judgeOf(rules)?.(address, what)
  return message === undefined ? [] : [{ path, message }]
}

/** Finds addresses with two roles. One contract may have the same address on all chains. */
function findDoubleRoles(named: readonly Named[], before: readonly Named[] = []): Problem[] {
  const keyOf = ({ address }: Named) => familyOfAddress(address)?.addresses.keyOf(address) ?? address
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
