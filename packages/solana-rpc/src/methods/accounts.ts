import type { Address } from '@solana/kit'
import { toAccountJson } from '../account-json.ts'
import { type Account, everOwnedBy, findAt } from '../account-store.ts'
import type { Methods } from '../json-rpc.ts'
import type { Ledger } from '../ledger.ts'
import {
  type Config,
  findBoolean,
  findInteger,
  readAddress,
  readArray,
  readBank,
  readBytes,
  readConfig,
  readU64,
} from '../params.ts'
import { invalidParams } from '../rpc-error.ts'
import { findTokenAccount } from '../token-layout.ts'

// Agave's MAX_MULTIPLE_ACCOUNTS and MAX_GET_PROGRAM_ACCOUNT_FILTERS.
const MAX_ACCOUNTS = 100
const MAX_FILTERS = 4
const MAX_ACCOUNT_BYTES = 10_485_760n

/** Accounts as of a commitment. */
export function accountMethods(ledger: Ledger): Methods {
  return {
    getBalance([address, options]) {
      const { slot, context } = readBank(ledger, readConfig(options))
      const account = findAt(ledger.accounts, { address: readAddress(address), slot })
      return { context, value: account?.lamports ?? 0n }
    },
    getAccountInfo([address, options]) {
      const config = readConfig(options)
      const { slot, context } = readBank(ledger, config)
      return { context, value: findAccountJson(ledger, { address: readAddress(address), slot, config }) }
    },
    getMultipleAccounts([addresses, options]) {
      const config = readConfig(options)
      const { slot, context } = readBank(ledger, config)
      const wanted = readArray(addresses, { max: MAX_ACCOUNTS }).map(readAddress)
      return { context, value: wanted.map((address) => findAccountJson(ledger, { address, slot, config })) }
    },
    getProgramAccounts([program, options]) {
      const config = readConfig(options)
      const { slot, context } = readBank(ledger, config)
      const value = readProgramAccounts(ledger, { program: readAddress(program), slot, config })
      return findBoolean(config.withContext) ? { context, value } : value
    },
    getMinimumBalanceForRentExemption([bytes]) {
      const size = readU64(bytes)
      if (size > MAX_ACCOUNT_BYTES) throw invalidParams('Invalid params: larger than an account can be')
      return ledger.runtime.svm.minimumBalanceForRentExemption(size)
    },
  }
}

type AccountQuery = { address: Address; slot: number; config: Config }

/** Null, as nodes answer, if the account does not exist at that slot. */
export function findAccountJson(ledger: Ledger, query: AccountQuery) {
  const { slot, config } = query
  const account = findAt(ledger.accounts, query)
  return account
    ? toAccountJson(account, config, (address) => findAt(ledger.accounts, { address, slot }))
    : null
}

function readProgramAccounts(ledger: Ledger, query: { program: Address; slot: number; config: Config }) {
  const { program, slot, config } = query
  const isWanted = readFilters(config)
  return everOwnedBy(ledger.accounts, program).flatMap((pubkey) => {
    const account = findAt(ledger.accounts, { address: pubkey, slot })
    if (account?.owner !== program || !isWanted(account)) return []
    return [{ pubkey, account: findAccountJson(ledger, { address: pubkey, slot, config }) }]
  })
}

/** Combines all of the client's `filters`. */
export function readFilters(config: Config): (account: Account) => boolean {
  const filters = readArray(config.filters ?? [], { max: MAX_FILTERS }).map(readFilter)
  return (account) => filters.every((matches) => matches(account))
}

function readFilter(value: unknown): (account: Account) => boolean {
  const filter = readConfig(value)
  if (filter.dataSize !== undefined) {
    const size = findInteger(filter.dataSize)
    return (account) => account.data.length === size
  }
  if (filter.tokenAccountState !== undefined) return (account) => findTokenAccount(account) !== undefined
  if (filter.memcmp === undefined) throw invalidParams('Invalid params: unknown filter')
  const memcmp = readConfig(filter.memcmp)
  const offset = findInteger(memcmp.offset) ?? 0
  const bytes = readBytes(memcmp.bytes, memcmp.encoding)
  return ({ data }) => Buffer.compare(data.subarray(offset, offset + bytes.length), bytes) === 0
}
