import { type DecodedInstruction, decodeEscrowInstruction } from '@geoswap/solana-escrow'
import { type Address, getBase58Encoder, type Signature } from '@solana/kit'
import type { SolanaClient } from './client.ts'
import type { Depth } from './heads.ts'
import type { ReadInstruction, ReadMessage } from './message.ts'

type TokenChange = { account: string; owner: string; mint: string; before: bigint; after: bigint }

/** A landed transaction and its effects. */
export type Transaction = ReadMessage & {
  txHash: string
  slot: bigint
  /** The block's time by the chain's own clock. */
  seconds: number
  failed: boolean
  /** Paid by the first signer, also if it failed. */
  fee: bigint
  /** By account; 0 before an account exists and after it is closed. */
  lamports: ReadonlyMap<string, { before: bigint; after: bigint }>
  tokens: readonly TokenChange[]
  /** Instructions of the escrow program, including those that other programs called. */
  escrow: readonly DecodedInstruction[]
}

type Query = { txHash: string; commitment: Depth; program: string }

/** Undefined if the node does not know the transaction at this commitment. */
export async function readTransaction(
  { rpc }: SolanaClient,
  { txHash, commitment, program }: Query,
): Promise<Transaction | undefined> {
  const found = await rpc
    .getTransaction(txHash as Signature, { commitment, encoding: 'json', maxSupportedTransactionVersion: 0 })
    .send()
  if (!found?.meta) return undefined
  const meta = found.meta as unknown as Meta
  const message = found.transaction.message as unknown as Message
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {}
  const accounts = [...message.accountKeys, ...writable, ...readonly]
  const read = (instructions: readonly RawInstruction[]) => instructions.map((each) => toRead(accounts, each))
  const instructions = read(message.instructions)
  const inner = (meta.innerInstructions ?? []).flatMap((group) => read(group.instructions))
  const failed = meta.err !== null
  return {
    txHash,
    slot: found.slot,
    seconds: Number(found.blockTime ?? 0),
    failed,
    fee: meta.fee ?? 0n,
    accounts,
    instructions,
    signers: accounts.slice(0, message.header.numRequiredSignatures),
    blockhash: message.recentBlockhash,
    lamports: new Map(
      accounts.map((account, index) => [
        account,
        { before: meta.preBalances[index] ?? 0n, after: meta.postBalances[index] ?? 0n },
      ]),
    ),
    tokens: tokenChanges(accounts, meta),
    escrow: failed ? [] : [...instructions, ...inner].flatMap((each) => decode(program, each)),
  }
}

type RawInstruction = { programIdIndex: number; accounts: readonly number[]; data: string }
type Message = {
  header: { numRequiredSignatures: number }
  accountKeys: readonly string[]
  recentBlockhash: string
  instructions: readonly RawInstruction[]
}
type TokenBalance = { accountIndex: number; mint: string; owner?: string; uiTokenAmount: { amount: string } }
type Meta = {
  err: unknown
  fee?: bigint
  preBalances: readonly bigint[]
  postBalances: readonly bigint[]
  preTokenBalances?: readonly TokenBalance[] | null
  postTokenBalances?: readonly TokenBalance[] | null
  innerInstructions?: readonly { instructions: readonly RawInstruction[] }[] | null
  loadedAddresses?: { writable: readonly string[]; readonly: readonly string[] } | null
}

function toRead(
  keys: readonly string[],
  { programIdIndex, accounts, data }: RawInstruction,
): ReadInstruction {
  const keyAt = (index: number) => keys[Number(index)] ?? ''
  return {
    program: keyAt(programIdIndex),
    accounts: accounts.map(keyAt),
    data: getBase58Encoder().encode(data),
  }
}

function decode(program: string, instruction: ReadInstruction): DecodedInstruction[] {
  if (instruction.program !== program) return []
  const { accounts, data } = instruction
  const decoded = decodeEscrowInstruction({ accounts: accounts as Address[], data })
  return decoded ? [decoded] : []
}

function tokenChanges(accounts: readonly string[], meta: Meta): TokenChange[] {
  const [before, after] = [meta.preTokenBalances ?? [], meta.postTokenBalances ?? []]
  const amountIn = (list: readonly TokenBalance[], at: number) =>
    BigInt(list.find(({ accountIndex }) => accountIndex === at)?.uiTokenAmount.amount ?? 0)
  const touched = new Map([...before, ...after].map((held) => [held.accountIndex, held]))
  return [...touched].map(([at, { mint, owner = '' }]) => ({
    account: accounts[Number(at)] ?? '',
    owner: String(owner),
    mint: String(mint),
    before: amountIn(before, at),
    after: amountIn(after, at),
  }))
}
