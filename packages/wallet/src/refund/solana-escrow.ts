import { setTimeout as delay } from 'node:timers/promises'
import {
  createAccountInstruction,
  type DecodedPayout,
  decodeEscrowInstruction,
  decodeInputAccount,
  findInputAccount,
  isNative,
  refundInstruction,
  type Terms,
  type Token,
} from '@geoswap/solana-escrow'
import {
  type Address,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  getBase58Encoder,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getSignatureFromTransaction,
  isAddress,
  pipe,
  type Signature,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { UserError } from '../errors.ts'
import type { Key } from '../families/family.ts'

/** An input that may lie in the escrow program of a Solana chain. */
export type SolanaRefundable = {
  chainId: number
  program: Address
  terms: Terms
  token: Token
  amount: bigint
}

type Fields = Readonly<Record<string, unknown>>

/** Reads the `operation` of a build reply. A wrong field yields an address that holds nothing. */
export function readSolanaOperation(value: unknown): SolanaRefundable {
  try {
    return toRefundable(value as Fields)
  } catch (cause) {
    const advice = 'It is the field operation of a reply of POST /swap/build-solana-tx.'
    throw new UserError('USAGE', 'This is not the operation of a Solana swap.', { advice, cause })
  }
}

function toRefundable(fields: Fields): SolanaRefundable {
  const addressIn = (name: string): Address => {
    const text = String(fields[name])
    if (!isAddress(text)) throw new TypeError(`${name} is not an address`)
    return text
  }
  const integerIn = (name: string): bigint => {
    const text = String(fields[name])
    if (!/^\d{1,20}$/.test(text)) throw new TypeError(`${name} is not an integer`)
    return BigInt(text)
  }
  const opId = String(fields['opId'])
  if (!/^[0-9a-f]{64}$/.test(opId)) throw new TypeError('opId is not 32 bytes')
  const program = addressIn('tokenProgram')
  const amount = integerIn('amount')
  return {
    chainId: Number(integerIn('chainId')),
    program: addressIn('program'),
    terms: {
      wallet: addressIn('wallet'),
      vault: addressIn('vault'),
      attester: addressIn('attester'),
      rentReceiver: addressIn('feePayer'),
      opId: `0x${opId}`,
      refundDeadline: integerIn('refundDeadline'),
      amount,
    },
    // The program takes the decimals from the mint.
    token: { mint: addressIn('token'), program, decimals: isNative({ program }) ? 9 : 0 },
    amount,
  }
}

type State = 'none' | 'locked' | 'claimed' | 'refunded'
type Rpc = ReturnType<typeof createSolanaRpc>

const POLL_MS = 500
// Two signatures' worth of fees, and the rent of a token account that the wallet may have closed.
const MOST_LAMPORTS = 10_000n + 2_100_000n

/** Reads an input's state, and the chain's clock, from the chain itself. */
export async function readSolanaEscrow(
  rpcUrl: string,
  op: SolanaRefundable,
): Promise<{ state: State; now: bigint; held: bigint }> {
  const rpc = createSolanaRpc(rpcUrl)
  const account = await findInputAccount(op.program, op)
  const slot = await rpc.getSlot({ commitment: 'confirmed' }).send()
  const [held, now] = await Promise.all([readHeld(rpc, account), rpc.getBlockTime(slot).send()])
  // A rest of a claim, or a gift of a stranger, may lie there without the input.
  const state = held >= op.amount ? 'locked' : await readEnd(rpc, op, account)
  return { state, now: BigInt(now), held }
}

async function readHeld(rpc: Rpc, account: Address): Promise<bigint> {
  const { value } = await rpc.getAccountInfo(account, { commitment: 'confirmed', encoding: 'base64' }).send()
  const data = value && getBase64Encoder().encode(value.data[0])
  return (data && decodeInputAccount({ programAddress: value.owner, data })?.amount) ?? 0n
}

type Payout = { kind: DecodedPayout['kind']; held: bigint }

/** How an input left its account, by the transactions that paid out of it, the newest first. */
async function readEnd(rpc: Rpc, op: SolanaRefundable, account: Address): Promise<State> {
  const found = await rpc.getSignaturesForAddress(account, { commitment: 'confirmed', limit: 100 }).send()
  const payouts: Payout[] = []
  for (const { signature, err } of found) {
    const payout = err === null ? await findPayout(rpc, op, { signature, account }) : undefined
    if (payout) payouts.push(payout)
    if (payout?.kind === 'claim') break
  }
  return endOf(op.amount, payouts)
}

/** A claim ends the input, whatever is refunded after it. A refund of less is that of a rest, or of a gift. */
export function endOf(amount: bigint, payouts: readonly Payout[]): State {
  if (payouts.some(({ kind }) => kind === 'claim')) return 'claimed'
  return payouts.some(({ held }) => held >= amount) ? 'refunded' : 'none'
}

/** `held`: what lay in the account before. */
async function findPayout(
  rpc: Rpc,
  { program }: SolanaRefundable,
  { signature, account }: { signature: Signature; account: Address },
): Promise<Payout | undefined> {
  const options = { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 } as const
  const found = await rpc.getTransaction(signature, options).send()
  const { accountKeys, instructions } = found?.transaction.message ?? { accountKeys: [], instructions: [] }
  const before = found?.meta?.preTokenBalances?.find(
    ({ accountIndex }) => accountKeys[accountIndex] === account,
  )
  for (const { programIdIndex, accounts, data } of instructions) {
    if (accountKeys[programIdIndex] !== program) continue
    const named = accounts.map((at) => accountKeys[at] as Address)
    const decoded = decodeEscrowInstruction({ accounts: named, data: getBase58Encoder().encode(data) })
    if (decoded && 'source' in decoded && decoded.kind !== 'deliver' && decoded.source === account)
      return { kind: decoded.kind, held: BigInt(before?.uiTokenAmount.amount ?? 0) }
  }
  return undefined
}

/** The maximum cost of a refund, and the balance available for it. */
export async function readSolanaGas(rpcUrl: string, key: Key): Promise<{ needed: bigint; held: bigint }> {
  const { address } = await createKeyPairSignerFromPrivateKeyBytes(key.secret)
  const options = { commitment: 'confirmed' } as const
  const { value } = await createSolanaRpc(rpcUrl).getBalance(address, options).send()
  return { needed: MOST_LAMPORTS, held: value }
}

type Refunding = { op: SolanaRefundable; key: Key; onSent(txHash: string): void }

/** Sends the refund and waits until it is confirmed or can no longer land. The account tells whether it succeeded. */
export async function sendSolanaRefund(
  rpcUrl: string,
  { op, key, onSent }: Refunding,
): Promise<{ txHash: string; state: State }> {
  const rpc = createSolanaRpc(rpcUrl)
  const payer = await createKeyPairSignerFromPrivateKeyBytes(key.secret)
  const { terms, token, program } = op
  const account = { payer: payer.address, owner: terms.wallet, token }
  const instructions = [
    // The wallet may have closed its own account.
    ...(isNative(token) ? [] : [await createAccountInstruction(account)]),
    await refundInstruction(program, { terms, token, attested: false }),
  ]
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  const signed = await pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayerSigner(payer, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstructions(instructions, message),
    (message) => signTransactionMessageWithSigners(message),
  )
  const txHash = getSignatureFromTransaction(signed)
  await rpc.sendTransaction(getBase64EncodedWireTransaction(signed), { encoding: 'base64' }).send()
  onSent(txHash)
  await untilOver(rpc, txHash, lifetime.lastValidBlockHeight)
  return { txHash, state: (await readSolanaEscrow(rpcUrl, op)).state }
}

async function untilOver(rpc: Rpc, txHash: Signature, lastValid: bigint): Promise<void> {
  for (;;) {
    const { value } = await rpc.getSignatureStatuses([txHash]).send()
    const status = value[0]?.confirmationStatus
    if (status === 'confirmed' || status === 'finalized') return
    if ((await rpc.getBlockHeight({ commitment: 'confirmed' }).send()) > lastValid) return
    await delay(POLL_MS)
  }
}
