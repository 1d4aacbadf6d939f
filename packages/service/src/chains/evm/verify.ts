import { geoAccountAbi, geoEscrowAbi, geoVaultAbi } from '@geoswap/protocol'
import { type Address, erc20Abi, type PublicClient } from 'viem'
import { quoteStranger } from '../../errors.ts'
import { type AttesterSet, keyOfSet } from '../../swap/attester-set.ts'
import type { ClosedToken, Findings } from '../findings.ts'
import { orUndefined } from './attempt.ts'
import { readAttesterSets } from './attesters.ts'
import { strangeReads } from './strange-reads.ts'
import { verifyCode, verifyCreation } from './verify-code.ts'
import { type ExpectedFeed, isFeedOf, readFeedFacts } from './view.ts'

export function readDecimals(client: PublicClient, token: Address): Promise<number> {
  return strangeReads(client).readContract({ address: token, abi: erc20Abi, functionName: 'decimals' })
}

export function readSymbol(client: PublicClient, token: Address): Promise<string> {
  return strangeReads(client).readContract({ address: token, abi: erc20Abi, functionName: 'symbol' })
}

type ExpectedToken = { address: Address; symbol: string; decimals: number | undefined }

type Expected = {
  chainId: number
  name: string
  contracts: { account: Address; escrow: Address; vault: Address }
  /** The sets that the escrow may have. */
  attesters: readonly AttesterSet[]
  treasury: Address | undefined
  deliverers: readonly Address[]
  /** Our keys that send transactions on this chain. */
  senders: readonly Address[]
  tokens: readonly ExpectedToken[]
  feeds: readonly ExpectedFeed[]
}

/** Finds the differences between the chain and the configuration. */
export async function verifyChain(client: PublicClient, expected: Expected): Promise<Required<Findings>> {
  const { chainId, name } = expected
  const withName = (text: string) => `${name}: ${text}`
  const actual = await client.getChainId()
  if (actual !== chainId) {
    const problem = withName(`the node serves chain ${actual}, not ${chainId}`)
    return { problems: [problem], warnings: [], closed: [] }
  }
  const [code, senders, tokens, feeds] = await Promise.all([
    verifyCode(client, expected.contracts),
    verifySenders(client, expected),
    Promise.all(expected.tokens.map((token) => verifyToken(client, token))),
    Promise.all(expected.feeds.map((feed) => verifyFeed(client, feed))),
  ])
  // Unknown code cannot be queried for its roles.
  const roles =
    code.length > 0
      ? []
      : [verifyEscrow(client, expected), verifyVault(client, expected), verifyCreation(client, expected)]
  return {
    problems: [code, senders, ...(await Promise.all(roles))].flat().map(withName),
    warnings: feeds.flat().map((text) => withName(`${text}: it gives no price`)),
    closed: tokens.flat().map(({ token, why }) => ({ token, why: withName(why) })),
  }
}

/** Nodes accept one pending transaction of a delegated account: the second of a lane would never be sent. */
async function verifySenders(client: PublicClient, { senders }: Expected): Promise<string[]> {
  const codes = await Promise.all(senders.map((address) => client.getCode({ address })))
  return senders
    .filter((_, index) => codes[index] !== undefined)
    .map((address) => `there is code at ${address}, which sends transactions: remove its delegation`)
}

async function verifyEscrow(client: PublicClient, expected: Expected): Promise<string[]> {
  const { contracts, treasury } = expected
  const escrow = { address: contracts.escrow, abi: geoEscrowAbi } as const
  const [account, vault, owner, back, attesters] = await Promise.all([
    client.readContract({ ...escrow, functionName: 'ACCOUNT' }),
    client.readContract({ ...escrow, functionName: 'VAULT' }),
    client.readContract({ ...escrow, functionName: 'TREASURY' }),
    client.readContract({ address: contracts.account, abi: geoAccountAbi, functionName: 'ESCROW' }),
    verifyAttesters(client, expected),
  ])
  const actual = { account, vault, treasury: owner }
  const configured = { account: contracts.account, vault: contracts.vault, treasury: treasury ?? owner }
  const wrong = (['account', 'vault', 'treasury'] as const).filter(
    (role) => actual[role] !== configured[role],
  )
  return [
    ...wrong.map((role) => `the escrow's ${role} is ${actual[role]}, not ${configured[role]}`),
    ...attesters,
    ...(back === contracts.escrow ? [] : [`the account's escrow is ${back}, not ${contracts.escrow}`]),
  ]
}

/** Every set that decides ops from now on must be configured. */
async function verifyAttesters(client: PublicClient, { contracts, attesters }: Expected): Promise<string[]> {
  const { timestamp } = await client.getBlock()
  const now = Number(timestamp)
  const sets = await readAttesterSets(client, { escrow: contracts.escrow, from: now })
  const known = attesters.map(keyOfSet)
  return sets
    .map((set) => ({ since: set.since, key: keyOfSet(set) }))
    .filter(({ key }) => !known.includes(key))
    .map(({ since, key }) => {
      const from = since > now ? ` for refund deadlines from ${new Date(since * 1_000).toISOString()} on` : ''
      return `the escrow's attesters${from} are ${key}, not ${known.join(' or ')}`
    })
}

async function verifyVault(
  client: PublicClient,
  { contracts, deliverers, treasury }: Expected,
): Promise<string[]> {
  const vault = { address: contracts.vault, abi: geoVaultAbi } as const
  const [owner, ...known] = await Promise.all([
    client.readContract({ ...vault, functionName: 'TREASURY' }),
    ...deliverers.map((key) => client.readContract({ ...vault, functionName: 'deliverers', args: [key] })),
  ])
  const strangers = deliverers.filter((_, index) => !known[index])
  return [
    ...(treasury && owner !== treasury ? [`the vault's treasury is ${owner}, not ${treasury}`] : []),
    ...strangers.map((key) => `the vault does not accept deliveries from ${key}`),
  ]
}

type Capped = { contracts: Expected['contracts']; tokens: readonly { address: Address; symbol: string }[] }

/** Lists tokens that cannot move. The treasury opens caps, and may close them on purpose. */
export async function findClosedCaps(client: PublicClient, { contracts, tokens }: Capped): Promise<string[]> {
  const vault = { address: contracts.vault, abi: geoVaultAbi } as const
  const escrow = { address: contracts.escrow, abi: geoEscrowAbi } as const
  const closed = await Promise.all(
    tokens.map(async ({ address, symbol }) => {
      const args = [address] as const
      const [[payable], [claimable], [refundable]] = await Promise.all([
        client.readContract({ ...vault, functionName: 'caps', args }),
        client.readContract({ ...escrow, functionName: 'claimCaps', args }),
        client.readContract({ ...escrow, functionName: 'refundCaps', args }),
      ])
      return [
        ...(payable > 0n ? [] : [`the vault pays no ${symbol}: its cap is 0`]),
        ...(claimable > 0n ? [] : [`no ${symbol} can be claimed from the escrow: its claim cap is 0`]),
        ...(refundable > 0n
          ? []
          : [`no ${symbol} is refunded before its refund deadline: its refund cap is 0`]),
      ]
    }),
  )
  const isStopped = await client.readContract({ ...escrow, functionName: 'attestedRefundsStopped' })
  const stopped = 'the treasury has stopped attested refunds: inputs go back after their refund deadline'
  return [...(isStopped ? [stopped] : []), ...closed.flat()]
}

/** Checks symbol and decimals: another token at this address would be another currency under a known name. */
async function verifyToken(client: PublicClient, token: ExpectedToken): Promise<ClosedToken[]> {
  const { address, symbol, decimals } = token
  const closed = (why: string) => [{ token: address, why }]
  const [actualSymbol, actualDecimals] = await Promise.all([
    orUndefined(client, () => readSymbol(client, address)),
    orUndefined(client, () => readDecimals(client, address)),
  ])
  if (actualDecimals === undefined) return closed(`there is no token ${symbol} at ${address}`)
  // Some old tokens have a symbol that is not text and cannot be compared.
  if (actualSymbol !== undefined && actualSymbol !== symbol)
    return closed(`the token at ${address} has the symbol ${quoteStranger(actualSymbol)}, not ${symbol}`)
  if (decimals === undefined || decimals === actualDecimals) return []
  return closed(`${symbol} at ${address} has ${actualDecimals} decimals, not ${decimals}`)
}

async function verifyFeed(client: PublicClient, feed: ExpectedFeed): Promise<string[]> {
  const { address, description } = feed
  const facts = await readFeedFacts(client, address)
  if (facts === undefined) return [`there is no price feed at ${address}`]
  if (isFeedOf(feed, facts)) return []
  if (facts.description === description) return [`the feed at ${address} has ${facts.decimals} decimals`]
  return [`the feed at ${address} is of ${quoteStranger(facts.description)}, not of ${description}`]
}
