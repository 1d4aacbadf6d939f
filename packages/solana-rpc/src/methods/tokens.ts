import type { Address } from '@solana/kit'
import { type Account, findAt } from '../account-store.ts'
import type { Methods } from '../json-rpc.ts'
import type { Ledger } from '../ledger.ts'
import { type Config, readAddress, readBank, readConfig } from '../params.ts'
import { invalidParams } from '../rpc-error.ts'
import { toTokenAmount } from '../token-balances.ts'
import { findMint, findTokenAccount, isTokenProgram } from '../token-layout.ts'
import { findAccountJson } from './accounts.ts'

const MAX_LARGEST = 20

/** Token accounts and mints of both token programs, as of a commitment. */
export function tokenMethods(ledger: Ledger): Methods {
  return {
    getTokenAccountBalance([address, options]) {
      const { slot, context } = readBank(ledger, readConfig(options))
      const { amount, mint } = getToken(ledger, { address: readAddress(address), slot })
      const { decimals } = getMint(ledger, { address: mint, slot })
      return { context, value: toTokenAmount({ amount, decimals }) }
    },
    getTokenSupply([address, options]) {
      const { slot, context } = readBank(ledger, readConfig(options))
      const { supply, decimals } = getMint(ledger, { address: readAddress(address), slot })
      return { context, value: toTokenAmount({ amount: supply, decimals }) }
    },
    getTokenAccountsByOwner([owner, filter, options]) {
      const config = readConfig(options)
      const { slot, context } = readBank(ledger, config)
      const value = readByOwner(ledger, {
        owner: readAddress(owner),
        filter: readConfig(filter),
        slot,
        config,
      })
      return { context, value }
    },
    getTokenLargestAccounts([address, options]) {
      const { slot, context } = readBank(ledger, readConfig(options))
      return { context, value: readLargest(ledger, { mint: readAddress(address), slot }) }
    },
  }
}

type At = { address: Address; slot: number }

function readByOwner(
  ledger: Ledger,
  query: { owner: Address; filter: Config; slot: number; config: Config },
) {
  const { owner, slot, config } = query
  const isWanted = readTokenFilter(ledger, query)
  return [...(ledger.accounts.byTokenOwner.get(owner) ?? [])].flatMap((pubkey) => {
    const account = findAt(ledger.accounts, { address: pubkey, slot })
    const token = account && findTokenAccount(account)
    if (token?.owner !== owner || !isWanted(account, token.mint)) return []
    return [{ pubkey, account: findAccountJson(ledger, { address: pubkey, slot, config }) }]
  })
}

function readTokenFilter(ledger: Ledger, query: { filter: Config; slot: number }) {
  const { filter, slot } = query
  if (filter.mint !== undefined) {
    const address = readAddress(filter.mint)
    getMint(ledger, { address, slot })
    return (_account: Account | undefined, mint: Address) => mint === address
  }
  const program = readAddress(filter.programId)
  if (!isTokenProgram(program)) throw invalidParams('Invalid param: unrecognized Token program id')
  return (account: Account | undefined, _mint: Address) => account?.owner === program
}

function readLargest(ledger: Ledger, query: { mint: Address; slot: number }) {
  const { mint, slot } = query
  const { decimals } = getMint(ledger, { address: mint, slot })
  return [...(ledger.accounts.byMint.get(mint) ?? [])]
    .flatMap((address) => {
      const account = findAt(ledger.accounts, { address, slot })
      const token = account && findTokenAccount(account)
      return token?.mint === mint ? [{ address, amount: token.amount }] : []
    })
    .sort((a, b) => (a.amount < b.amount ? 1 : -1))
    .slice(0, MAX_LARGEST)
    .map(({ address, amount }) => ({ address, ...toTokenAmount({ amount, decimals }) }))
}

function getToken(ledger: Ledger, at: At) {
  const account = findAt(ledger.accounts, at)
  if (!account) throw invalidParams('Invalid param: could not find account')
  const token = findTokenAccount(account)
  if (!token) throw invalidParams('Invalid param: not a Token account')
  return token
}

function getMint(ledger: Ledger, at: At) {
  const account = findAt(ledger.accounts, at)
  if (!account) throw invalidParams('Invalid param: could not find mint')
  const mint = findMint(account)
  if (!mint) throw invalidParams('Invalid param: not a Token mint')
  return mint
}
