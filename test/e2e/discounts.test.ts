import type { QuoteReply } from '@geoswap/wire'
import { address, type KeyPairSigner } from '@solana/kit'
import { findAssociatedTokenPda, getTransferInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { type Address, encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { createSolanaWorld, type SolanaWorld } from '../solana-world.ts'
import { createWorld, outcomeOf, quoteOnceSettled, submitSwap, toRequest, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world

const USDC = 1_000_000n
const GEO = 10n ** 18n
const SOLANA_GEO = 10n ** 9n
const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 100n * USDC }

let api: CheckedClient
let solana: SolanaWorld
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
  solana = await createSolanaWorld(local)
  // By another wallet, since even a refused quote starts the read of its wallet.
  await quoteOf(privateKeyToAccount(generatePrivateKey()))
})

/** A new wallet that holds this much GEO on alpha and on beta. */
async function holderOf({ onAlpha, onBeta = 0n }: { onAlpha: bigint; onBeta?: bigint }) {
  const wallet = privateKeyToAccount(generatePrivateKey())
  await world.fund(alpha, wallet.address, 'GEO', onAlpha)
  if (onBeta > 0n) await world.fund(beta, wallet.address, 'GEO', onBeta)
  return wallet
}

const quoteOf = (wallet: PrivateKeyAccount) => quoteOnceSettled(api, toRequest(wallet, order))
const quoteFromSolana = (wallet: KeyPairSigner) =>
  quoteOnceSettled(api, {
    ...{ originChain: solana.chainId, inputToken: solana.token('USDC'), walletAddress: wallet.address },
    ...{ destinationChain: alpha.chainId, outputToken: alpha.token('USDC'), amount: '100000000' },
    recipient: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  })

/** The first quote with this tier, within this many seconds. */
function untilTier(tier: string | undefined, quote: () => Promise<QuoteReply>, seconds = 20) {
  return until(async () => {
    const reply = await quote()
    return reply.feeDiscount?.tier === tier && reply
  }, seconds * 1_000)
}

test('10,000 GEO on two chains are silver in the first quote, unless it says that it does not know yet', async () => {
  const wallet = await holderOf({ onAlpha: 4_000n * GEO, onBeta: 6_000n * GEO })

  const first = await quoteOf(wallet)
  const quote = await untilTier('silver', () => quoteOf(wallet))

  const isUnknown = first.warnings?.some(({ code }) => code === 'DISCOUNT_UNKNOWN') ?? false
  expect(first.feeDiscount?.tier).toBe(isUnknown ? undefined : 'silver')
  expect(quote.feeBps).toBe(0.38)
  expect(quote.feeDiscount).toEqual({ tier: 'silver', discountPercent: 25, baseFeeBps: 0.5 })
  const serviceFee = quote.fees.find(({ kind }) => kind === 'serviceFee')
  expect(serviceFee?.amount).toBe('3800')
})

test('one unit less than 10,000 GEO is bronze, and a discounted swap delivers the quoted amount', async () => {
  const wallet = await holderOf({ onAlpha: 10_000n * GEO - 1n })
  await world.fund(alpha, wallet.address, 'USDC', order.amount)

  await untilTier('bronze', () => quoteOf(wallet))
  const { quote, swapId } = await submitSwap({ api }, wallet, order)

  expect(quote.feeBps).toBe(0.45)
  expect((await outcomeOf({ api }, swapId)).status).toBe('settled')
  expect(await beta.balanceOf(wallet.address, 'USDC')).toBe(BigInt(quote.output))
})

test('a seller loses the discount, on EVM chains and on Solana', async () => {
  const wallet = await holderOf({ onAlpha: 1_000n * GEO })
  const solanaWallet = await solana.wallet({ GEO: 100_000n * SOLANA_GEO })
  const quotes = [() => quoteOf(wallet), () => quoteFromSolana(solanaWallet)] as const
  const [, onSolana] = await Promise.all([untilTier('bronze', quotes[0]), untilTier('gold', quotes[1])])
  expect(onSolana.feeBps).toBe(0.25)
  expect(onSolana.feeDiscount).toEqual({ tier: 'gold', discountPercent: 50, baseFeeBps: 0.5 })

  await Promise.all([sell(wallet, 1n), sellOnSolana(solanaWallet, 100_000n * SOLANA_GEO)])
  const after = await Promise.all(quotes.map((quote) => untilTier(undefined, quote, 60)))

  expect(after.map(({ feeBps }) => feeBps)).toEqual([0.5, 0.5])
})

async function sell({ address: owner }: { address: Address }, amount: bigint): Promise<void> {
  const args = [alpha.contracts.account, amount] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  await alpha.as(owner, { to: alpha.token('GEO'), data })
}

async function sellOnSolana(wallet: KeyPairSigner, amount: bigint): Promise<void> {
  const accountOf = async (owner: string) => {
    const holder = { owner: address(owner), mint: solana.token('GEO'), tokenProgram: TOKEN_PROGRAM_ADDRESS }
    return (await findAssociatedTokenPda(holder))[0]
  }
  const [source, destination] = await Promise.all([wallet.address, solana.vault].map(accountOf))
  if (!source || !destination) throw new Error('There is an address for every owner')
  await solana.send(getTransferInstruction({ source, destination, authority: wallet, amount }))
}
