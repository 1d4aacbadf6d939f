import { type Address, getAddressDecoder, getBase58Decoder, type Instruction } from '@solana/kit'
import { AccountState, getTokenEncoder, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { toBase64 } from '../../src/chains/solana/bytes.ts'
import type { SolanaParts } from '../../src/chains/solana/parts.ts'

type SolanaRpc = SolanaParts['client']['rpc']
type Request = (...args: never[]) => { send(): Promise<unknown> }

/** A node of these methods. Their answers are those that a test needs: the overloads of kit cannot be checked. */
export const rpcOf = (methods: { [Method in keyof SolanaRpc]?: Request }) => methods as unknown as SolanaRpc

/** An address of 32 equal bytes, which nobody has a key for. */
export const addressOf = (byte: number): Address => getAddressDecoder().decode(new Uint8Array(32).fill(byte))

type Account = { owner: string; lamports?: bigint; data?: Uint8Array }
type Accounts = Readonly<Record<string, Account | undefined>>
type Landed = { slot: bigint; signers?: readonly string[]; instructions: readonly Instruction[] }

type State = {
  confirmed?: Accounts
  finalized?: Accounts
  /** By transaction. */
  landed?: Readonly<Record<string, Landed>>
  /** The transactions of an account, the newest first. Others cannot be read. */
  histories?: Readonly<Record<string, readonly string[]>>
}

/** A node in memory, and the names of what it is asked for. */
export function solanaNode({ confirmed = {}, finalized = {}, landed = {}, histories = {} }: State) {
  const calls: string[] = []
  const answer = <Value>(call: string, value: Value) => ({
    async send() {
      calls.push(call)
      return value
    },
  })
  const rpc = rpcOf({
    getMultipleAccounts(addresses: readonly string[], { commitment }: { commitment: string }) {
      const accounts = commitment === 'finalized' ? finalized : confirmed
      const value = addresses.map((address) => toRaw(accounts[address]))
      return answer(`${commitment} ${addresses.join(', ')}`, { context: { slot: 1n }, value })
    },
    getSignatureStatuses(hashes: readonly string[]) {
      const value = hashes.map((hash) => toStatus(landed[hash]))
      return answer(`statuses of ${hashes.join(', ')}`, { value })
    },
    getSignaturesForAddress(address: string, { before }: { before?: string } = {}) {
      const hashes = histories[address]
      if (!hashes) return { send: () => Promise.reject(new Error(`No history of ${address}`)) }
      const older = before === undefined ? hashes : hashes.slice(hashes.indexOf(before) + 1)
      return answer(
        `history of ${address}`,
        older.map((signature) => ({ signature, err: null })),
      )
    },
    getTransaction: (hash: string) => answer(hash, toTransaction(landed[hash])),
  })
  return { calls, rpc, nodes: [rpc] }
}

function toRaw(account: Account | undefined) {
  if (!account) return null
  const { owner, lamports = 1n, data = new Uint8Array() } = account
  return { owner, lamports, executable: false, data: [toBase64(data), 'base64'] }
}

const toStatus = (landed: Landed | undefined) =>
  landed ? { slot: landed.slot, err: null, confirmationStatus: 'finalized' } : null

function toTransaction(landed: Landed | undefined) {
  if (!landed) return null
  const { slot, instructions, signers = [] } = landed
  const named = instructions.flatMap(({ programAddress, accounts = [] }) => [
    programAddress,
    ...accounts.map(({ address }) => address),
  ])
  const accountKeys = [...new Set<string>([...signers, ...named])]
  const message = {
    header: { numRequiredSignatures: signers.length },
    accountKeys,
    recentBlockhash: '',
    instructions: instructions.map(({ programAddress, accounts = [], data = new Uint8Array() }) => ({
      programIdIndex: accountKeys.indexOf(programAddress),
      accounts: accounts.map(({ address }) => accountKeys.indexOf(address)),
      data: getBase58Decoder().decode(data),
    })),
  }
  return {
    slot,
    blockTime: 0n,
    meta: { err: null, preBalances: [], postBalances: [] },
    transaction: { message },
  }
}

/** A token account. */
export function tokensOf(owner: string, mint: string, amount: bigint): Account {
  const data = getTokenEncoder().encode({
    ...{ mint: mint as Address, owner: owner as Address, amount, state: AccountState.Initialized },
    ...{ delegate: null, isNative: null, delegatedAmount: 0n, closeAuthority: null },
  })
  return { owner: TOKEN_PROGRAM_ADDRESS, data: Uint8Array.from(data) }
}
