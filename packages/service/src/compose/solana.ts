import type { Address as SolanaAddress } from '@solana/kit'
import { checkNodes, type Findings, joinFindings, type NodeView } from '../chains/findings.ts'
import type { NodeWatch } from '../chains/nodes/post-json.ts'
import { attestPayout, isAttested } from '../chains/solana/attested.ts'
import { createInputBuilder, readWallet } from '../chains/solana/builder.ts'
import { NATIVE_SOL } from '../chains/solana/bytes.ts'
import { createSolanaChain } from '../chains/solana/chain.ts'
import { createSolanaClient } from '../chains/solana/client.ts'
import { createSolanaCustody } from '../chains/solana/custody.ts'
import { accountCostLamports } from '../chains/solana/fees.ts'
import type { SolanaBlock } from '../chains/solana/heads.ts'
import { NATIVE_TOKEN } from '../chains/solana/mint.ts'
import { createSolanaParts, type FindSigned, type SolanaParts } from '../chains/solana/parts.ts'
import { readRecipient } from '../chains/solana/recipient.ts'
import { createSolanaRecovery } from '../chains/solana/recovery.ts'
import { createSolanaSigner, ownAddresses, type SolanaSigner } from '../chains/solana/settings.ts'
import { findSweepable, sweepMarginSeconds } from '../chains/solana/sweep.ts'
import { verifySolana } from '../chains/solana/verify.ts'
import { createSolanaViewReader } from '../chains/solana/view.ts'
import { maxHeadAgeMs } from '../config/finality.ts'
import type { NetworkConfig, Secret, SolanaChainConfig } from '../config.ts'
import { mapOwn } from '../isolate.ts'
import type { RecipientView } from '../stages/quote/quote.ts'
import type { Order } from '../stages/quote/request.ts'
import type { Token } from '../swap/catalog.ts'
import { type CustodyOf, ringOfOp } from '../swap/op-terms.ts'
import type { SolanaOrigin, Ungated } from './connected-chain.ts'

// The System, token and associated-token programs move amounts of 64 bits.
const MAX_U64 = (1n << 64n) - 1n
// Millionths of a lamport per compute unit: a payment costs 30 lamports more at the floor, 30,000 at the cap.
const PRIORITY_PRICE = { floor: '1000', cap: '1000000' }

type Options = {
  network: NetworkConfig
  config: SolanaChainConfig
  urls: readonly string[]
  signers: readonly SolanaSigner[]
  findSigned: FindSigned | undefined
  custodyOf: CustodyOf
  caller?: string
  watches?: readonly NodeWatch[] | undefined
  assertOutsideTransaction(): void
}

/** A Solana chain with the parts that the processes need. Makes no call to a node. */
export function connectSolana(options: Options): Ungated & { solana: SolanaOrigin } {
  const { network, config, urls, signers, findSigned, caller, watches, assertOutsideTransaction } = options
  const { feePayers } = config
  const client = createSolanaClient({ urls, watches, ...(caller && { caller }), assertOutsideTransaction })
  const ringOf: SolanaParts['ringOf'] = (op) => ringOfOp(options.custodyOf, op)
  const parts = createSolanaParts({ client, settings: toSettings(options), signers, findSigned, ringOf })
  const chain = createSolanaChain(parts)
  const { solana: float, chains: filled = [] } = network.gasFloat ?? {}
  const hasFloat = float !== undefined && filled.some(({ chainId }) => chainId === config.chainId)
  const keys = [...new Set([...Object.values(feePayers), ...(hasFloat ? [float] : [])])]
  return {
    config,
    chain,
    custody: createSolanaCustody(parts),
    recovery: createSolanaRecovery(parts),
    view: createSolanaViewReader({ parts, chain, keys }),
    senders: { relay: [feePayers.input], authorize: [], deliver: [feePayers.delivery] },
    retiring: [],
    maxAmount: MAX_U64,
    nativeToken: { address: NATIVE_SOL, decimals: NATIVE_TOKEN.decimals },
    ownAddresses: [config.program, ...ownAddresses(parts.settings)],
    verify: () => verifyConfigured(parts, config, urls),
    loadTokens: () => loadTokens(parts, config),
    readGasBalance: async (address) => (await client.rpc.getBalance(address as SolanaAddress).send()).value,
    readTokenBalance: (owner, mint) => readTokenBalance(parts, { owner, mint }),
    solana: {
      builder: createInputBuilder(parts, config),
      inspectRecipient: (order) => inspectRecipient(parts, order),
      readLeastBalance: async () => (await parts.facts.rent()).emptyLamports,
      sweepMarginSeconds,
      findSweepable: (deliveryHashes, at) => findSweepable(parts, deliveryHashes, at as SolanaBlock),
      attest: (payout) => attestPayout(parts, getAttester(parts), payout),
      recoverAttester: async (text) => ((await isAttested(parts, text)) ? config.attester : undefined),
    },
  }
}

function getAttester({ settings, signers }: SolanaParts): SolanaSigner {
  const signer = signers.find(({ address }) => address === settings.attester)
  if (!signer) throw new Error(`No key for the attester ${settings.attester}`)
  return signer
}

function toSettings({ config }: Options): SolanaParts['settings'] {
  const { chainId, program, vault, attester, feePayers } = config
  const price = config.priorityPrice ?? PRIORITY_PRICE
  return {
    chainId,
    program,
    vault,
    attester,
    feePayers,
    tokens: [NATIVE_SOL, ...config.tokens.map(({ address }) => address)],
    priorityPrice: { floor: BigInt(price.floor), cap: BigInt(price.cap) },
  }
}

/** Verifies each node, and then the chain. */
async function verifyConfigured(
  { client }: SolanaParts,
  config: SolanaChainConfig,
  urls: readonly string[],
): Promise<Findings> {
  const { name, genesisHash, program, vault, attester } = config
  const ofNodes = await checkNodes({
    name,
    urls,
    chain: genesisHash,
    maxHeadAgeMs: maxHeadAgeMs(config),
    now: Date.now(),
    ask: (index) => readNode(client.nodes[index] ?? client.rpc),
  })
  if (ofNodes.problems.length > 0) return ofNodes
  const mints = [
    { mint: NATIVE_SOL, decimals: undefined },
    ...config.tokens.map(({ address, decimals }) => ({ mint: address, decimals })),
  ]
  const feePayers = Object.values(config.feePayers)
  const expected = { name, program, vault, attester, feePayers, mints }
  const cluster = genesisHash === undefined ? {} : { genesisHash }
  return joinFindings([ofNodes, await verifySolana(client, { ...expected, ...cluster })])
}

async function readNode(rpc: SolanaParts['client']['rpc']): Promise<NodeView> {
  const [genesis, slot] = await Promise.all([
    rpc.getGenesisHash().send(),
    rpc.getSlot({ commitment: 'confirmed' }).send(),
  ])
  return { chain: genesis, headSeconds: Number(await rpc.getBlockTime(slot).send()) }
}

/** Without those whose mint does not exist: a mint of Token-2022 can be closed. */
async function loadTokens({ facts }: SolanaParts, { chainId, tokens }: SolanaChainConfig): Promise<Token[]> {
  const found = await mapOwn(tokens, async ({ symbol, asset, address }) => {
    const token = await facts.findToken(address)
    return token ? [{ chainId, address, symbol, asset, decimals: token.decimals }] : []
  })
  return found.flat()
}

/** The balance of the associated token account, which also pays. */
async function readTokenBalance(
  { client, facts }: SolanaParts,
  { owner, mint }: { owner: string; mint: string },
): Promise<bigint> {
  const [rent, token] = await Promise.all([facts.rent(), facts.tokenOf(mint)])
  return (await readWallet(client, { wallet: owner, token, rent })).balance
}

const refusals = {
  isOurs: 'it belongs to this service',
  isTokenAccountOrMint: 'it is a token account or a mint; give the address of its owner',
  isProgram: 'it is a program',
  offCurve: 'no key exists for it and it has no account for this token',
  foreignOwner: 'its token account belongs to someone else',
  frozen: 'its token account is frozen',
  requiresMemo: 'its token account asks for a memo before each transfer',
  notItsTokenAccount: 'its token account address holds another account',
  belowRentMinimum: 'its balance would stay below the rent minimum',
} as const

/** Read at the quote: the swap costs more if the account does not exist. */
async function inspectRecipient(parts: SolanaParts, order: Order): Promise<RecipientView> {
  const { client, facts, settings } = parts
  const [rent, token, microLamportsPerUnit] = await Promise.all([
    facts.rent(),
    facts.tokenOf(order.output.address),
    facts.priorityPrice(),
  ])
  const ours = ownAddresses(settings)
  const { recipient } = order
  const seen = await readRecipient(client, { recipient, token, amount: MAX_U64, rent, ours })
  if (seen.kind === 'refused') return { kind: 'refused', why: refusals[seen.why] }
  const isNew = seen.kind === 'ready' && seen.account === recipient && (await isEmpty(parts, recipient))
  return {
    kind: 'payable',
    rent: seen.kind === 'missing' ? accountCostLamports({ rent, microLamportsPerUnit }, token) : 0n,
    leastOutput: isNew ? rent.emptyLamports : 0n,
  }
}

async function isEmpty({ client }: SolanaParts, owner: string): Promise<boolean> {
  return (await client.rpc.getBalance(owner as SolanaAddress).send()).value === 0n
}

export function createSigners(keys: readonly Secret[]): Promise<SolanaSigner[]> {
  return mapOwn(keys, (key) => createSolanaSigner(Buffer.from(key.reveal().slice(2), 'hex')))
}
