import type { Address } from '@solana/kit'
import type { Account } from '../account-store.ts'
import { chancesOf, type Faults } from '../faults.ts'
import { isObject } from '../json.ts'
import type { Methods } from '../json-rpc.ts'
import { advanceSlot, type Ledger, setAccount } from '../ledger.ts'
import {
  findBoolean,
  findInteger,
  readAddress,
  readArray,
  readBytes,
  readConfig,
  readU64,
} from '../params.ts'
import { programAccounts } from '../program-accounts.ts'
import { invalidParams } from '../rpc-error.ts'
import { currentSlot } from '../slots.ts'
import type { Ticker } from '../ticker.ts'

// A request must not block the event loop for long: one slot takes about 20 µs.
const MAX_ADVANCE = 100_000
const MAX_ACCOUNT_BYTES = 10_485_760

/** Controls that no real node has, for tests: time and faults. */
export function devMethods(node: { ledger: Ledger; faults: Faults; ticker: Ticker }): Methods {
  const { ledger, faults, ticker } = node
  const slot = () => currentSlot(ledger.slots)
  return {
    dev_pauseSlots() {
      ticker.pause()
      return slot()
    },
    dev_resumeSlots() {
      ticker.resume()
      return slot()
    },
    dev_advanceSlots([count]) {
      const steps = findInteger(count) ?? 1
      if (steps > MAX_ADVANCE) throw invalidParams(`at most ${MAX_ADVANCE} slots at once`)
      for (let step = 0; step < steps; step += 1) advanceSlot(ledger)
      return slot()
    },
    dev_dropTransactions([amount]) {
      Object.assign(faults, { dropNext: 0, dropProbability: 0, chance: Math.random }, readDrop(amount))
      return null
    },
    dev_delayTransactions([options]) {
      const config = readConfig(options)
      faults.delayNext = findInteger(config.count) ?? 1
      faults.delaySlots = findInteger(config.slots) ?? 1
      return null
    },
    dev_setAccount([address, account]) {
      setAccount(ledger, readAddress(address), readAccount(account))
      return null
    },
    async dev_addProgram([address, code, authority]) {
      const [text, encoding] = readArray(code, { max: 2 })
      const program = { address: readAddress(address), code: readBytes(text, encoding) }
      const owner = authority === undefined ? undefined : readAddress(authority)
      const accounts = await programAccounts({ ...program, authority: owner })
      for (const [at, account] of accounts) setAccount(ledger, at, account)
      return null
    },
    dev_advanceClock([seconds]) {
      ledger.slots.aheadMs += 1_000 * (findInteger(seconds) ?? 0)
      advanceSlot(ledger)
      return slot()
    },
  }
}

/** A whole number counts transactions, a fraction is a probability; the object form can express either. */
function readDrop(amount: unknown): Partial<Faults> {
  const fraction = isObject(amount) ? amount.probability : amount
  if (
    typeof fraction === 'number' &&
    fraction > 0 &&
    (fraction < 1 || (fraction === 1 && isObject(amount)))
  ) {
    const seed = isObject(amount) ? amount.seed : undefined
    return {
      dropProbability: fraction,
      ...(seed !== undefined && { chance: chancesOf(findInteger(seed) ?? 0) }),
    }
  }
  return { dropNext: findInteger(isObject(amount) ? amount.count : amount) ?? 0 }
}

function readAccount(value: unknown): Account {
  const account = readConfig(value)
  const [text, encoding] = readArray(account.data ?? ['', 'base64'], { max: 2 })
  const data = readBytes(text, encoding)
  if (data.length > MAX_ACCOUNT_BYTES) throw invalidParams('larger than an account can be')
  const owner: Address = readAddress(account.owner ?? '11111111111111111111111111111111')
  // Also as text, because many clients cannot write an integer beyond 2^53.
  const { lamports } = account
  const amount = typeof lamports === 'string' && /^\d{1,20}$/.test(lamports) ? BigInt(lamports) : lamports
  return { lamports: readU64(amount), data, owner, executable: findBoolean(account.executable) }
}
