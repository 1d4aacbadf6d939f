import { findAuthority } from '@geoswap/solana-escrow'
import type { BuildSolanaTxReply, StatusReply } from '@geoswap/wire'
import { type Address, address, type KeyPairSigner, type Signature } from '@solana/kit'
import { findAssociatedTokenPda, getCreateAssociatedTokenIdempotentInstruction } from '@solana-program/token'
import type { ApiClient } from './client.ts'
import type { SolanaWorld } from './solana-world.ts'
import { type Order, quoteOnceSettled, type Side, toRequest, until } from './world.ts'

type Counter = { api: ApiClient; solana: SolanaWorld }
export type SolanaOrder = Omit<Order<Side>, 'from'>

/** The decoded terms of a built transaction. */
export type SolanaOperation = Record<
  'opId' | 'feePayer' | 'wallet' | 'token' | 'amount' | 'destination' | 'program' | 'vault' | 'attester',
  string
> & { blockhash: string; refundDeadline: number; delivery: Record<string, string> }

export const operationOf = ({ operation }: BuildSolanaTxReply) => operation as SolanaOperation

/** The authority over an input, computed from the terms. */
export async function authorityOf(operation: SolanaOperation): Promise<Address> {
  const { wallet, vault, attester, feePayer, opId, refundDeadline, amount } = operation
  const [authority] = await findAuthority(address(operation.program), {
    ...{ wallet: address(wallet), vault: address(vault), attester: address(attester) },
    ...{ rentReceiver: address(feePayer), opId: `0x${opId}`, refundDeadline: BigInt(refundDeadline) },
    amount: BigInt(amount),
  })
  return authority
}

/** Quotes, builds and signs with a Solana wallet: everything before the submission. */
export async function prepareSolana({ api, solana }: Counter, wallet: KeyPairSigner, order: SolanaOrder) {
  const quote = await quoteOnceSettled(api, toRequest(wallet, { from: solana, ...order }))
  const build = await api.buildSolana({ geoQuoteToken: quote.geoQuoteToken })
  if (build.status !== 200) throw new Error(`build: ${build.status} ${build.body.code} ${build.body.message}`)
  const { geoOpToken, unsignedTransaction } = build.body
  const signedTransaction = await solana.signTransaction(wallet, unsignedTransaction)
  return {
    quote,
    build: build.body,
    operation: operationOf(build.body),
    submission: { geoOpToken, signedTransaction },
  }
}

export async function submitSolanaSwap(counter: Counter, wallet: KeyPairSigner, order: SolanaOrder) {
  const prepared = await prepareSolana(counter, wallet, order)
  const { status, body } = await counter.api.submitSolana(prepared.submission)
  if (status !== 200) throw new Error(`submit: ${status} ${body.code} ${body.message}`)
  return { ...prepared, swapId: body.swapId }
}

// One more than the slots to finality.
const FINALIZING_SLOTS = 33
// Slow enough for transactions signed meanwhile, which must land within 150 slots.
const LOOK_SECONDS = 1

/** Makes blocks on Solana faster than real time, until the swap has this state. */
export async function hurryUntil(
  { api, solana }: Counter,
  swapId: string,
  isSeen: (swap: StatusReply) => boolean,
): Promise<StatusReply> {
  return until(async () => {
    const { status, body } = await api.status(swapId, LOOK_SECONDS)
    if (status !== 200) throw new Error(`status: ${status} ${body.code}`)
    if (isSeen(body)) return body
    if (body.status !== 'pending') throw new Error(`The swap ended ${body.status} before that`)
    await solana.dev.dev_advanceSlots(FINALIZING_SLOTS).send()
    return undefined
  })
}

export const hurryToEnd = (counter: Counter, swapId: string) =>
  hurryUntil(counter, swapId, ({ status }) => status !== 'pending')

/** Waits until the input is taken in the newest block, even while slots are paused. */
export async function untilTaken({ rpc }: SolanaWorld, { destination }: SolanaOperation): Promise<void> {
  const options = { commitment: 'processed', encoding: 'base64' } as const
  await until(async () => (await rpc.getAccountInfo(address(destination), options).send()).value !== null)
}

/** Waits until the chain has advanced by this many slots. */
export async function untilLater({ rpc }: SolanaWorld, slots: bigint): Promise<void> {
  const now = () => rpc.getSlot({ commitment: 'confirmed' }).send()
  const end = (await now()) + slots
  await until(async () => (await now()) >= end)
}

/** Resumes time, and lets every transaction land at once again. */
export async function endFaults({ dev }: SolanaWorld): Promise<void> {
  await dev.dev_dropTransactions(0).send()
  await dev.dev_delayTransactions({ count: 0, slots: 0 }).send()
  await dev.dev_resumeSlots().send()
}

async function programOf({ rpc, token }: SolanaWorld, symbol: string): Promise<Address> {
  const options = { commitment: 'confirmed', encoding: 'base64' } as const
  const { value } = await rpc.getAccountInfo(token(symbol), options).send()
  if (!value) throw new Error(`There is no mint of ${symbol}`)
  return value.owner
}

/** The associated token account of an owner. */
export async function accountOf(solana: SolanaWorld, owner: string, symbol: string): Promise<Address> {
  const tokenProgram = await programOf(solana, symbol)
  const [account] = await findAssociatedTokenPda({
    ...{ owner: address(owner), mint: solana.token(symbol), tokenProgram },
  })
  return account
}

// The offset of a token account's state: after mint, owner, amount and delegate.
const STATE_AT = 108
const FROZEN = 2

/** Freezes a token account, as its issuer could, without any authority. */
export async function freeze({ rpc, dev }: SolanaWorld, account: Address): Promise<void> {
  const { value } = await rpc.getAccountInfo(account, { commitment: 'confirmed', encoding: 'base64' }).send()
  if (!value) throw new Error(`There is no account ${account}`)
  const data = Buffer.from(value.data[0], 'base64')
  data[STATE_AT] = FROZEN
  const written = {
    lamports: `${value.lamports}`,
    owner: value.owner,
    data: [data.toString('base64'), 'base64'],
  }
  await dev.dev_setAccount(account, written).send()
}

/** Creates an empty token account for an owner, which need not have a key. */
export async function openAccount(solana: SolanaWorld, owner: string, symbol: string): Promise<Address> {
  const { payer, token, send } = solana
  const ata = await accountOf(solana, owner, symbol)
  const tokenProgram = await programOf(solana, symbol)
  const account = { payer, ata, owner: address(owner), mint: token(symbol), tokenProgram }
  await send(getCreateAssociatedTokenIdempotentInstruction(account))
  return ata
}

type Landed = { signature: Signature; failed: boolean }

/**
 * The transactions of one op that touch this account, oldest first: the service puts the op's id into each
 * memo.
 */
export async function transactionsOf(
  { rpc }: SolanaWorld,
  { account, opId }: { account: string; opId: string },
): Promise<Landed[]> {
  const found = await rpc.getSignaturesForAddress(address(account), { commitment: 'confirmed' }).send()
  return found
    .filter(({ memo }) => memo?.includes(opId))
    .map(({ signature, err }) => ({ signature, failed: err !== null }))
    .reverse()
}

/** The changes by a confirmed transaction: lamports and tokens by account. */
export async function readEffects({ rpc }: SolanaWorld, signature: string) {
  const options = { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 } as const
  const found = await rpc.getTransaction(signature as Signature, options).send()
  if (!found?.meta) throw new Error(`Transaction ${signature} is not confirmed`)
  const { meta, transaction } = found
  const accounts: readonly string[] = transaction.message.accountKeys
  const lamports = new Map(
    accounts.map((account, at) => [account, (meta.postBalances[at] ?? 0n) - (meta.preBalances[at] ?? 0n)]),
  )
  const heldIn = (balances: typeof meta.postTokenBalances, at: number) =>
    BigInt(balances?.find(({ accountIndex }) => accountIndex === at)?.uiTokenAmount.amount ?? 0n)
  const tokens = new Map(
    accounts.map((account, at) => [
      account,
      heldIn(meta.postTokenBalances, at) - heldIn(meta.preTokenBalances, at),
    ]),
  )
  return { failed: meta.err !== null, fee: meta.fee, feePayer: accounts[0] ?? '', lamports, tokens }
}
