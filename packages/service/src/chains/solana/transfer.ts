import { createAccountInstruction } from '@geoswap/solana-escrow'
import {
  type Address,
  createAddressWithSeed,
  createNoopSigner,
  getBase58Decoder,
  type Instruction,
  type TransactionSigner,
} from '@solana/kit'
import { getCreateAccountWithSeedInstruction } from '@solana-program/system'
import type { Signed, Transfer } from '../chain.ts'
import { isNative, readAccounts, SYSTEM_PROGRAM, type Token } from './accounts.ts'
import { toBase64 } from './bytes.ts'
import { toProgramToken } from './facts.ts'
import { paymentUnits } from './fees.ts'
import { type Lifetime, NO_LIFETIME, type SolanaBlock } from './heads.ts'
import { budgetInstructions, compile, joinWire, splitWire, transferInstruction } from './message.ts'
import type { SolanaParts } from './parts.ts'
import { readSignatures } from './reads.ts'
import { type SolanaSigner, signMessage } from './settings.ts'
import { simulate } from './simulate.ts'

/** A transfer of the sender's own money, who also pays the fee. Amounts as text, stored as JSON. */
export type TransferRequest = {
  kind: 'transfer'
  from: string
  to: string
  mint: string
  amount: string
  once?: string
}

export type TransferTerms = { lifetime: Lifetime; microLamportsPerUnit: bigint }

export async function readCoins(
  { client }: SolanaParts,
  address: string,
  { commitment, number: minContextSlot }: SolanaBlock,
): Promise<bigint> {
  const [account] = await readAccounts(client.agreed, { addresses: [address], commitment, minContextSlot })
  return account?.lamports ?? 0n
}

export async function planTransfer(parts: SolanaParts, transfer: Transfer): Promise<TransferRequest> {
  const { from, to, token, amount, once } = transfer
  const request: TransferRequest = {
    kind: 'transfer',
    from,
    to,
    mint: token,
    amount: amount.toString(),
    once,
  }
  const draft = await compileTransfer(parts, createNoopSigner(from as Address), request, {
    lifetime: NO_LIFETIME,
    microLamportsPerUnit: parts.settings.priorityPrice.floor,
  })
  const tried = await simulate(parts.client, { raw: toBase64(draft), replaceBlockhash: true })
  if (tried.kind !== 'ok') throw new Error(`A transfer to ${to} would fail now: ${reasons[tried.kind]}`)
  return request
}

const reasons = {
  insufficientFunds: "the sender's balance is too low",
  recipient: 'it cannot receive this amount of this token',
  blockhash: 'the node does not know its own newest block',
  alreadyInUse: 'it was already made',
  other: 'the node refuses it; does the sender have SOL for the fee?',
}

export async function signTransfer(
  parts: SolanaParts,
  signer: SolanaSigner,
  request: TransferRequest,
  terms: TransferTerms,
): Promise<Signed> {
  const message = splitWire(await compileTransfer(parts, createNoopSigner(signer.address), request, terms), {
    count: 1,
  })?.message
  if (!message) throw new Error('A transfer is signed by its sender alone')
  const signature = await signMessage(signer, message)
  return {
    raw: toBase64(joinWire([signature], message)),
    txHash: getBase58Decoder().decode(signature),
    lastValid: terms.lifetime.lastValidBlockHeight,
  }
}

async function compileTransfer(
  { facts }: SolanaParts,
  from: TransactionSigner,
  { to, mint, amount, once }: TransferRequest,
  { lifetime, microLamportsPerUnit }: TransferTerms,
): Promise<Uint8Array> {
  const [token, rent] = await Promise.all([facts.tokenOf(mint), facts.rent()])
  const createAccount = !isNative(token)
  const units = paymentUnits({ createAccount })
  return compile({
    feePayer: from.address,
    lifetime,
    instructions: [
      ...budgetInstructions({ units, microLamportsPerUnit }),
      ...(once === undefined ? [] : [await markOnce(from, once, rent.emptyLamports)]),
      ...(createAccount ? [await createAccountInstruction(accountOf(from, { to, token }))] : []),
      await transferInstruction({ from, to, token, amount: BigInt(amount) }),
    ],
  })
}

const accountOf = (from: TransactionSigner, { to, token }: { to: string; token: Token }) => ({
  payer: from.address,
  owner: to as Address,
  token: toProgramToken(token),
})

/** An account that can be created once: any other transaction that creates it fails. */
async function markOnce(payer: TransactionSigner, seed: string, lamports: bigint): Promise<Instruction> {
  const base = payer.address
  const newAccount = await createAddressWithSeed({ baseAddress: base, seed, programAddress: SYSTEM_PROGRAM })
  const empty = { amount: lamports, space: 0n, programAddress: SYSTEM_PROGRAM }
  return getCreateAccountWithSeedInstruction({ payer, newAccount, base, seed, ...empty })
}

export async function findTransaction({ client }: SolanaParts, txHash: string) {
  const status = (await readSignatures(client.agreed, [txHash])).get(txHash)
  return status && { block: status.slot, failed: status.failed }
}
