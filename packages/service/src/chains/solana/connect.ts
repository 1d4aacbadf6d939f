import type { Address as SolanaAddress } from '@solana/kit'
import { mapOwn } from '../../isolate.ts'
import type { Token } from '../../swap/catalog.ts'
import { ringOfOp } from '../../swap/op-terms.ts'
import type { Chain, InputBuilder, RecipientView } from '../chain.ts'
import type { Attestations, ConnectOptions, Ungated } from '../family.ts'
import { checkNodes, type Findings, joinFindings, type NodeView } from '../findings.ts'
import type { ViewReader } from '../view.ts'
import { NATIVE_TOKEN, readAccounts } from './accounts.ts'
import { attestPayout, isAttested } from './attested.ts'
import { createInputBuilder, readWallet } from './builder.ts'
import { NATIVE_SOL } from './bytes.ts'
import { createSolanaChain } from './chain.ts'
import { createSolanaClient } from './client.ts'
import type { SolanaChainConfig } from './config.ts'
import { createSolanaCustody } from './custody.ts'
import { accountCostLamports } from './fees.ts'
import type { SolanaBlock } from './heads.ts'
import { isClosable } from './paid-input.ts'
import { createSolanaParts, type SolanaParts } from './parts.ts'
import { planPublicRefund } from './plans.ts'
import { readRecipient } from './recipient.ts'
import { createSolanaRecovery } from './recovery.ts'
import { ownAddresses, type SolanaSigner } from './settings.ts'
import { findSweepable, sweepMarginSeconds } from './sweep.ts'
import { verifySolana } from './verify.ts'

// The System, token and associated-token programs move amounts of 64 bits.
const MAX_U64 = (1n << 64n) - 1n
// Millionths of a lamport per compute unit: a payment costs 30 lamports more at the floor, 30,000 at the cap.
const PRIORITY_PRICE = { floor: '1000', cap: '1000000' }

type Options = Omit<ConnectOptions<SolanaChainConfig>, 'signers'> & {
  signers: readonly SolanaSigner[]
}

export type ConnectedSolana = Ungated<SolanaChainConfig> & { builder: InputBuilder }

/** A Solana chain with the parts that the processes need. Makes no call to a node. */
export function connectSolana(options: Options): ConnectedSolana {
  const { config, urls, signers, findSigned, custodyOf, float, ...connection } = options
  const { feePayers } = config
  const client = createSolanaClient({ urls, ...connection })
  const ringOf: SolanaParts['ringOf'] = (op) => ringOfOp(custodyOf, op)
  const parts = createSolanaParts({ client, settings: toSettings(config), signers, findSigned, ringOf })
  const chain = createSolanaChain(parts)
  const keys = [...new Set([...Object.values(feePayers), ...(float ? [float] : [])])]
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
    builder: createInputBuilder(parts, config),
    inspectRecipient: (party) => inspectRecipient(parts, party),
    readLeastBalance: async () => (await parts.facts.rent()).emptyLamports,
    sweeping: {
      marginSeconds: sweepMarginSeconds,
      findSweepable: (deliveryHashes, at) => findSweepable(parts, deliveryHashes, at as SolanaBlock),
    },
    closing: {
      isClosable: (op, at) => isClosable(parts, op, at as SolanaBlock),
      planClose: planPublicRefund,
    },
    attestations: createAttestations(parts),
  }
}

/** The attester signs the transaction that claims or refunds. */
function createAttestations(parts: SolanaParts): Attestations {
  return {
    async sign(_signer, { kind }, [op, ...others]) {
      if (!op || others.length > 0) throw new Error('One claim or refund per transaction')
      return attestPayout(parts, getAttester(parts), { kind, op })
    },
    recoverSigner: async (_attested, text) =>
      (await isAttested(parts, text)) ? parts.settings.attester : undefined,
  }
}

function getAttester({ settings, signers }: SolanaParts): SolanaSigner {
  const signer = signers.find(({ address }) => address === settings.attester)
  if (!signer) throw new Error(`No key for the attester ${settings.attester}`)
  return signer
}

function toSettings(config: SolanaChainConfig): SolanaParts['settings'] {
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
    maxHeadAgeMs: config.maxHeadAgeMs,
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
async function inspectRecipient(
  parts: SolanaParts,
  { recipient, token: mint }: { recipient: string; token: string },
): Promise<RecipientView> {
  const { client, facts, settings } = parts
  const [rent, token, microLamportsPerUnit] = await Promise.all([
    facts.rent(),
    facts.tokenOf(mint),
    facts.priorityPrice(),
  ])
  const ours = ownAddresses(settings)
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

type ViewOptions = {
  parts: Pick<SolanaParts, 'client'>
  chain: Pick<Chain, 'readLegCosts' | 'readHoldings'>
  /** The keys whose native balances are read. */
  keys: readonly string[]
}

/** Reads the parts of a Solana chain's view, which has no feeds, pools or limits. */
function createSolanaViewReader({ parts, chain, keys }: ViewOptions): ViewReader {
  return {
    readCosts: (at) => chain.readLegCosts(at),
    async readState({ head }) {
      const { commitment, number: minContextSlot } = head as SolanaBlock
      const [accounts, holdings] = await Promise.all([
        readAccounts(parts.client.agreed, { addresses: keys, commitment, minContextSlot }),
        chain.readHoldings(head),
      ])
      const balances = Object.fromEntries(
        keys.map((key, index) => [key, accounts[index]?.lamports ?? 0n] as const),
      )
      return { rounds: {}, balances, holdings, claimCaps: {}, seconds: head.seconds }
    },
    readPools: async () => [],
  }
}
