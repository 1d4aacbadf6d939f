import { type Address, getAddress, type PublicClient, zeroAddress } from 'viem'
import { mapOwn } from '../../isolate.ts'
import { MAX_UINT256 } from '../../swap/amount.ts'
import type { AttesterSet } from '../../swap/attester-set.ts'
import type { Token } from '../../swap/catalog.ts'
import { type CustodyOf, ringOfOp } from '../../swap/op-terms.ts'
import type { Attestations, ConnectOptions, Contracts, Shared, Ungated } from '../family.ts'
import { checkNodes, type Findings, joinFindings, type NodeView } from '../findings.ts'
import { medianOfNodes } from '../nodes/agree.ts'
import { orUndefined } from './attempt.ts'
import { createAttestationMessages } from './attesters.ts'
import { createEvmChain } from './chain.ts'
import { createEvmClients, type EvmClients } from './client.ts'
import type { EvmChainConfig } from './config.ts'
import { createEvmCustody } from './custody.ts'
import { createPriceReader } from './fees.ts'
import { createHeadSubscription } from './heads.ts'
import { readBalance } from './reads.ts'
import { createEvmRecovery } from './recovery.ts'
import type { EvmSigner } from './signer.ts'
import { createFlagReader } from './strange-reads.ts'
import { readTokenSigning } from './tokens.ts'
import type { EvmVenue } from './venue.ts'
import { findClosedCaps, readDecimals, verifyChain } from './verify.ts'
import { readCodeHash } from './verify-code.ts'
import { createEvmViewReader, type ExpectedFeed } from './view.ts'
import type { EvmLock } from './ways.ts'

/** The sets that the escrows may have: two during a change. */
function attesterSetsOf({ attesters, nextAttesters }: Shared): AttesterSet[] {
  return [attesters, ...(nextAttesters ? [nextAttesters] : [])].map(toAttesterSet)
}

export function toAttesterSet({ members, threshold }: AttesterSet): AttesterSet {
  return { members: members.map((address) => getAddress(address)), threshold }
}

type Options = Omit<ConnectOptions<EvmChainConfig>, 'signers' | 'venues' | 'locks'> & {
  signers: readonly EvmSigner[]
  venues: readonly EvmVenue[]
  locks: readonly EvmLock[]
}

export type ConnectedEvm = Ungated<EvmChainConfig> & { client: PublicClient; contracts: Contracts }

/** The chain as an EVM chain, for commands that act on its contracts. */
export function asEvm(connected: object): ConnectedEvm | undefined {
  return 'client' in connected ? (connected as ConnectedEvm) : undefined
}

/** An EVM chain with the parts that the processes need. Makes no call to a node. */
export function connectEvm(options: Options): ConnectedEvm {
  const { network, config, urls, signers, venues, locks, custodyOf, float, ...connection } = options
  const clients = createEvmClients({ urls, ...connection })
  const { client } = clients
  const contracts = toContracts(config)
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
      ...config.finality,
      blockMs: config.blockMs,
      followsSafe: config.exposureUntil === 'safe',
    },
    tipWei: config.tipWei === undefined ? undefined : BigInt(config.tipWei),
    ringOf: (op: { originChain: number; locker: string }) => ringOfOp(custodyOf, op),
    l1FeeOracle: config.l1FeeOracle === undefined ? undefined : getAddress(config.l1FeeOracle),
    l1Gas: config.l1Gas,
    maxTipWei: config.maxTipWei === undefined ? undefined : BigInt(config.maxTipWei),
  }
  const parts = {
    clients,
    settings,
    venues,
    locks,
    prices: createPriceReader(clients.nodes, settings),
  }
  return {
    config,
    client,
    contracts,
    chain: createEvmChain({ ...parts, accounts: signers, deliverer: senders.deliver[0] ?? zeroAddress }),
    custody: createEvmCustody({
      clients: clients.gathered,
      settings: { ...settings, lockers: [...senders.relay, ...senders.authorize] },
      locks,
    }),
    recovery: createEvmRecovery(parts),
    view: createEvmViewReader({
      ...parts,
      keys: [...new Set([...Object.values(senders).flat(), ...(float ? [getAddress(float)] : [])])],
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
    verify: () => verifyConfigured({ network, config, urls, clients, venues }),
    loadTokens: () => loadTokens(client, locks, config),
    readGasBalance: (address) =>
      medianOfNodes(clients.nodes.map((node) => node.getBalance({ address: address as Address }))),
    readTokenBalance: (owner, token) =>
      readBalance(clients.gathered.client, { owner: owner as Address, token: token as Address }),
    readCodeHash: (address) => readCodeHash(client, address as Address),
    readFlag: createFlagReader(clients.agreed),
    attestations: createAttestations(custodyOf, signers),
  }
}

/** Attesters sign typed data for the escrow. */
function createAttestations(custodyOf: CustodyOf, signers: readonly EvmSigner[]): Attestations {
  const { messageOf, recoverSigner } = createAttestationMessages(custodyOf)
  return {
    async sign(address, attested) {
      const signer = signers.find((each) => each.address === address)
      if (!signer) throw new Error(`No private key for ${address}`)
      return signer.signTypedData(messageOf(attested))
    },
    recoverSigner: async (attested, signature) => recoverSigner(attested, signature),
  }
}

function feedsOn({ assets }: Shared, chainId: number): ExpectedFeed[] {
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

type Checked = Pick<Options, 'network' | 'config' | 'urls' | 'venues'> & { clients: EvmClients }

/** Verifies each node, and then the contracts on the chain. */
async function verifyConfigured({ network, config, urls, clients, venues }: Checked): Promise<Findings> {
  const { client, nodes } = clients
  const { name, chainId } = config
  const ofNodes = await checkNodes({
    name,
    urls,
    chain: String(chainId),
    maxHeadAgeMs: config.maxHeadAgeMs,
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
    mapOwn(venues, (venue) => venue.verify(client, contracts.vault)),
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

function toExpected(network: Shared, { chainId, tokens }: EvmChainConfig) {
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

export function toContracts({ contracts }: EvmChainConfig): Contracts {
  return {
    account: getAddress(contracts.account),
    escrow: getAddress(contracts.escrow),
    vault: getAddress(contracts.vault),
  }
}

// Of a token that tells no number and has none in the file: it is closed.
const UNKNOWN_DECIMALS = 18

/** With the configured decimals where there are any: a token that reports others is closed. */
function loadTokens(
  client: PublicClient,
  locks: readonly EvmLock[],
  config: EvmChainConfig,
): Promise<Token[]> {
  const { chainId, tokens } = config
  const { escrow } = toContracts(config)
  return mapOwn(tokens, async ({ symbol, asset, address: text, decimals: configured }) => {
    const address = getAddress(text)
    const [actual, signing] = await Promise.all([
      orUndefined(client, () => readDecimals(client, address)),
      readTokenSigning(client, locks, { chainId, escrow, token: address }),
    ])
    const decimals = configured ?? actual ?? UNKNOWN_DECIMALS
    return { chainId, address, symbol, asset, decimals, signing }
  })
}
