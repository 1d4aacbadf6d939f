import { type Address, getAddress, type PublicClient, zeroAddress } from 'viem'
import { orUndefined } from '../chains/evm/attempt.ts'
import { createEvmChain } from '../chains/evm/chain.ts'
import { createEvmClients, type EvmClients } from '../chains/evm/client.ts'
import { createEvmCustody } from '../chains/evm/custody.ts'
import { createPriceReader } from '../chains/evm/fees.ts'
import { createHeadSubscription } from '../chains/evm/heads.ts'
import { readBalance } from '../chains/evm/reads.ts'
import { createEvmRecovery } from '../chains/evm/recovery.ts'
import type { EvmSigner } from '../chains/evm/signer.ts'
import { readTokenSigning } from '../chains/evm/tokens.ts'
import { findClosedCaps, readDecimals, verifyChain } from '../chains/evm/verify.ts'
import { createEvmViewReader, type ExpectedFeed } from '../chains/evm/view.ts'
import { checkNodes, type Findings, joinFindings, type NodeView } from '../chains/findings.ts'
import { medianOfNodes } from '../chains/nodes/agree.ts'
import type { NodeWatch } from '../chains/nodes/post-json.ts'
import { attesterAddresses } from '../config/connections.ts'
import { finalityOf, maxHeadAgeMs } from '../config/finality.ts'
import type { EvmChainConfig, NetworkConfig } from '../config.ts'
import { mapOwn } from '../isolate.ts'
import { MAX_UINT256 } from '../swap/amount.ts'
import type { AttesterSet } from '../swap/attester-set.ts'
import type { Token } from '../swap/catalog.ts'
import { type CustodyOf, ringOfOp } from '../swap/op-terms.ts'
import { buyingVenues } from '../venues/registry.ts'
import { evmWays } from '../ways/registry.ts'
import type { EvmContracts, EvmParts, Ungated } from './connected-chain.ts'

/** The sets that the escrows may have: two during a change. */
function attesterSetsOf({ attesters, nextAttesters }: NetworkConfig): AttesterSet[] {
  return [attesters, ...(nextAttesters ? [nextAttesters] : [])].map(toAttesterSet)
}

/** Addresses whose signatures may count. */
export function attestersOf(network: NetworkConfig): string[] {
  return attesterAddresses(network).map((address) => getAddress(address))
}

export function toAttesterSet({ members, threshold }: NetworkConfig['attesters']): AttesterSet {
  return { members: members.map((address) => getAddress(address)), threshold }
}

/** The attesters' keys on Solana chains. */
export function solanaAttestersOf({ chains }: Pick<NetworkConfig, 'chains'>): string[] {
  return chains.flatMap((chain) => (chain.family === 'solana' ? [chain.attester] : []))
}

type Options = {
  network: NetworkConfig
  config: EvmChainConfig
  urls: readonly string[]
  accounts: readonly EvmSigner[]
  custodyOf: CustodyOf
  caller?: string
  watches?: readonly NodeWatch[] | undefined
  assertOutsideTransaction(): void
}

/** An EVM chain with the parts that the processes need. Makes no call to a node. */
export function connectEvm(options: Options): Ungated & { evm: EvmParts } {
  const { network, config, urls, accounts, custodyOf, caller, watches, assertOutsideTransaction } = options
  const clients = createEvmClients({ urls, watches, ...(caller && { caller }), assertOutsideTransaction })
  const { client } = clients
  const contracts = toContracts(config)
  const venues = buyingVenues(network, config.chainId)
  const senders = {
    relay: network.relayers.map((address) => getAddress(address)),
    authorize: network.authorizationRelayers.map((address) => getAddress(address)),
    deliver: network.deliverers.map((address) => getAddress(address)),
  }
  const settings = {
    chainId: config.chainId,
    ...contracts,
    olderAccounts: (config.olderAccounts ?? []).map((address) => getAddress(address)),
    attesters: attesterSetsOf(network),
    tokens: [zeroAddress, ...config.tokens.map((token) => getAddress(token.address))],
    finality: {
      ...finalityOf(config),
      blockMs: config.blockMs,
      followsSafe: config.exposureUntil === 'safe',
    },
    tipWei: config.tipWei === undefined ? undefined : BigInt(config.tipWei),
    ringOf: (op: { originChain: number; locker: string }) => ringOfOp(custodyOf, op),
    ...(config.l1FeeOracle && { l1FeeOracle: getAddress(config.l1FeeOracle) }),
    ...(config.l1Gas && { l1Gas: config.l1Gas }),
    ...(config.maxTipWei !== undefined && { maxTipWei: BigInt(config.maxTipWei) }),
  }
  const parts = {
    clients,
    settings,
    venues,
    locks: evmWays,
    prices: createPriceReader(clients.nodes, settings),
  }
  return {
    config,
    chain: createEvmChain({ ...parts, accounts, deliverer: senders.deliver[0] ?? zeroAddress }),
    custody: createEvmCustody({
      clients: clients.gathered,
      settings: { ...settings, lockers: [...senders.relay, ...senders.authorize] },
      locks: evmWays,
    }),
    recovery: createEvmRecovery(parts),
    view: createEvmViewReader({
      ...parts,
      keys: watchedKeys(network, config, Object.values(senders).flat()),
      feeds: feedsOn(network, config.chainId),
      decimalsOf: rememberDecimals(client, config),
    }),
    listenToHeads: (listener) =>
      config.wsUrls && createHeadSubscription({ urls: config.wsUrls, blockMs: config.blockMs, ...listener }),
    senders,
    retiring: (network.retiring ?? []).map((address) => getAddress(address)),
    maxAmount: MAX_UINT256,
    nativeToken: { address: zeroAddress, decimals: 18 },
    ownAddresses: Object.values(contracts),
    verify: () => verifyConfigured({ network, config, urls, clients }),
    loadTokens: () => loadTokens(client, config),
    readGasBalance: (address) =>
      medianOfNodes(clients.nodes.map((node) => node.getBalance({ address: address as Address }))),
    readTokenBalance: (owner, token) =>
      readBalance(clients.gathered.client, { owner: owner as Address, token: token as Address }),
    evm: { client, contracts },
  }
}

/** The sending keys and the gas float that tops them up. */
function watchedKeys({ gasFloat }: NetworkConfig, { chainId }: EvmChainConfig, keys: readonly Address[]) {
  const hasFloat = gasFloat?.evm !== undefined && gasFloat.chains.some((each) => each.chainId === chainId)
  return [...new Set([...keys, ...(hasFloat && gasFloat.evm ? [getAddress(gasFloat.evm)] : [])])]
}

export function feedsOn({ assets }: NetworkConfig, chainId: number): ExpectedFeed[] {
  return assets.flatMap(({ name, sources }) =>
    sources.flatMap((source) => {
      if (source.kind !== 'chainlink' || source.chainId !== chainId) return []
      return [{ address: getAddress(source.address), description: source.description ?? `${name} / USD` }]
    }),
  )
}

/** Caches decimals, those of the file first; a failed reading is not cached. */
function rememberDecimals(client: PublicClient, { tokens }: EvmChainConfig) {
  const known = new Map<Address, number>()
  for (const { address, decimals } of tokens)
    if (decimals !== undefined) known.set(getAddress(address), decimals)
  return async (token: Address): Promise<number> => {
    const decimals = known.get(token) ?? (await readDecimals(client, token))
    known.set(token, decimals)
    return decimals
  }
}

type Checked = Pick<Options, 'network' | 'config' | 'urls'> & { clients: EvmClients }

/** Verifies each node, and then the contracts on the chain. */
async function verifyConfigured({ network, config, urls, clients }: Checked): Promise<Findings> {
  const { client, nodes } = clients
  const { name, chainId } = config
  const ofNodes = await checkNodes({
    name,
    urls,
    chain: String(chainId),
    maxHeadAgeMs: maxHeadAgeMs(config),
    now: Date.now(),
    ask: (index) => readNode(nodes[index] ?? client),
  })
  if (ofNodes.problems.length > 0) return ofNodes
  const contracts = toContracts(config)
  const found = await verifyChain(client, { ...toExpected(network, config), chainId, name, contracts })
  const ofChain = joinFindings([ofNodes, found])
  // Unknown contracts cannot be queried further.
  if (found.problems.length > 0) return ofChain
  const [unfit, closed] = await Promise.all([
    mapOwn(buyingVenues(network, chainId), (venue) => venue.verify(client, contracts.vault)),
    findClosedCaps(client, { contracts, tokens: paidOn(config) }),
  ])
  const withName = (text: string) => `${name}: ${text}`
  const more = { problems: unfit.flat().map(withName), warnings: closed.map(withName) }
  return joinFindings([ofChain, more])
}

/** Without tokens that the configuration closes on purpose. */
function paidOn({ native, tokens }: EvmChainConfig) {
  const isOpen = ({ capPerHour = '' }: { capPerHour?: string }) => !/^0(\.0+)?$/.test(capPerHour)
  return [{ ...native, address: zeroAddress }, ...tokens]
    .filter(isOpen)
    .map(({ address, symbol }) => ({ address: getAddress(address), symbol }))
}

async function readNode(node: PublicClient): Promise<NodeView> {
  const [chainId, head] = await Promise.all([node.getChainId(), node.getBlock({ blockTag: 'latest' })])
  return { chain: String(chainId), headSeconds: Number(head.timestamp) }
}

function toExpected(network: NetworkConfig, { chainId, tokens }: EvmChainConfig) {
  return {
    attesters: attesterSetsOf(network),
    treasury: network.treasury === undefined ? undefined : getAddress(network.treasury),
    deliverers: network.deliverers.map((address) => getAddress(address)),
    senders: [...network.relayers, ...network.authorizationRelayers, ...network.deliverers].map((address) =>
      getAddress(address),
    ),
    tokens: tokens.map(({ address, symbol, decimals }) => ({
      address: getAddress(address),
      symbol,
      decimals,
    })),
    feeds: feedsOn(network, chainId),
  }
}

export function toContracts({ contracts }: EvmChainConfig): EvmContracts {
  return {
    account: getAddress(contracts.account),
    escrow: getAddress(contracts.escrow),
    vault: getAddress(contracts.vault),
  }
}

// Of a token that tells no number and has none in the file: it is closed.
const UNKNOWN_DECIMALS = 18

/** With the configured decimals where there are any: a token that reports others is closed. */
function loadTokens(client: PublicClient, config: EvmChainConfig): Promise<Token[]> {
  const { chainId, tokens } = config
  const { escrow } = toContracts(config)
  return mapOwn(tokens, async ({ symbol, asset, address: text, decimals: configured }) => {
    const address = getAddress(text)
    const [actual, signing] = await Promise.all([
      orUndefined(client, () => readDecimals(client, address)),
      readTokenSigning(client, { chainId, escrow, token: address }),
    ])
    const decimals = configured ?? actual ?? UNKNOWN_DECIMALS
    return { chainId, address, symbol, asset, decimals, ...(signing && { signing }) }
  })
}
