import { getAddressDecoder } from '@solana/kit'
import { type ReadInstruction, type ReadTransaction, readUnsigned } from './solana-message.ts'

const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111'
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

/** All effects of an input transaction on the wallet, read from its bytes. */
export type SolanaInput = {
  feePayer: string
  wallet: string
  /** The memo, 64 hex digits. */
  opId: string
  /** The mint, or the System program's address for the native coin. */
  token: string
  amount: bigint
  source: string
  destination: string
  /** The token's program; undefined for the native coin. */
  tokenProgram: string | undefined
  /**
   * The transaction is valid while this blockhash is recent. A durable nonce would need an advance
   * instruction first.
   */
  blockhash: string
}

type Transfer = Pick<SolanaInput, 'token' | 'amount' | 'source' | 'destination' | 'tokenProgram'>

// The fee payer, then the wallet.
const SIGNERS = 2

/**
 * Undefined unless the transaction is exactly compute budget, marker, memo and one transfer by the wallet.
 */
export function readSolanaInput(base64: string): SolanaInput | undefined {
  const read = readUnsigned(base64, { signers: SIGNERS })
  const [feePayer, wallet] = read?.signers ?? []
  const [limit, price, marker, memo, transfer, ...others] = read?.instructions ?? []
  if (!read || feePayer === undefined || wallet === undefined) return undefined
  if (!limit || !price || !marker || !memo || !transfer || others.length > 0) return undefined
  if (!isBudget(limit, { kind: 2, bytes: 5 }) || !isBudget(price, { kind: 3, bytes: 9 })) return undefined
  if (!isMarker(marker, feePayer)) return undefined
  const opId = readMemo(memo)
  const moved = readTransfer(transfer, wallet)
  if (opId === undefined || moved === undefined) return undefined
  if (timesNamed(read, wallet) !== 1 || timesNamed(read, feePayer) !== 1) return undefined
  return { feePayer, wallet, opId, ...moved, blockhash: read.blockhash }
}

/**
 * Counts how often instructions name an account: the wallet only in its transfer, the fee payer only in its
 * marker.
 */
function timesNamed({ instructions }: ReadTransaction, account: string): number {
  return instructions
    .flatMap(({ program, accounts }) => [program, ...accounts])
    .filter((each) => each === account).length
}

function isBudget(
  { program, accounts, data }: ReadInstruction,
  form: { kind: number; bytes: number },
): boolean {
  if (program !== COMPUTE_BUDGET_PROGRAM || accounts.length > 0) return false
  return data.byteLength === form.bytes && data.getUint8(0) === form.kind
}

/** CreateAccountWithSeed by the fee payer for an empty account: kind, base, seed, lamports, space, owner. */
function isMarker({ program, accounts, data }: ReadInstruction, feePayer: string): boolean {
  if (program !== SYSTEM_PROGRAM || accounts.length !== 2 || accounts[0] !== feePayer) return false
  if (data.byteLength < 4 + 32 + 8 || data.getUint32(0, true) !== 3) return false
  const rest = 4 + 32 + 8 + Number(data.getBigUint64(36, true))
  if (data.byteLength !== rest + 8 + 8 + 32) return false
  const isEmpty = data.getBigUint64(rest + 8, true) === 0n
  return isEmpty && addressAt(data, 4) === feePayer && addressAt(data, rest + 16) === SYSTEM_PROGRAM
}

function readMemo({ program, accounts, data }: ReadInstruction): string | undefined {
  const memo = new TextDecoder().decode(data)
  const isOurs = program === MEMO_PROGRAM && accounts.length === 0 && data.byteLength === 64
  return isOurs && /^[0-9a-f]{64}$/.test(memo) ? memo : undefined
}

function readTransfer(instruction: ReadInstruction, wallet: string): Transfer | undefined {
  return instruction.program === SYSTEM_PROGRAM
    ? readNativeTransfer(instruction, wallet)
    : readTokenTransfer(instruction, wallet)
}

/** Transfer: kind, lamports. */
function readNativeTransfer({ accounts, data }: ReadInstruction, wallet: string): Transfer | undefined {
  const [source, destination] = accounts
  if (accounts.length !== 2 || source !== wallet || destination === undefined) return undefined
  if (data.byteLength !== 12 || data.getUint32(0, true) !== 2) return undefined
  const amount = data.getBigUint64(4, true)
  return { token: SYSTEM_PROGRAM, amount, source, destination, tokenProgram: undefined }
}

/** TransferChecked: kind, amount, decimals. */
function readTokenTransfer(
  { program, accounts, data }: ReadInstruction,
  wallet: string,
): Transfer | undefined {
  const [source, token, destination, authority] = accounts
  if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) return undefined
  if (accounts.length !== 4 || authority !== wallet) return undefined
  if (source === undefined || token === undefined || destination === undefined) return undefined
  if (data.byteLength !== 10 || data.getUint8(0) !== 12) return undefined
  return { token, amount: data.getBigUint64(1, true), source, destination, tokenProgram: program }
}

function addressAt(data: DataView, offset: number): string {
  return getAddressDecoder().decode(new Uint8Array(data.buffer, offset, 32))
}
