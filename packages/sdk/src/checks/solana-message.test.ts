import {
  type Address,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getBase64Decoder,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
} from '@solana/kit'
import { expect, test } from 'vitest'
import { feePayer, parts, stranger, transactionOf, wallet } from '../../test/solana-offer.ts'
import { readUnsigned } from './solana-input.ts'

const honest = transactionOf(Object.values(parts))
const SIGNERS = { signers: 2 }
const HEAD = 1 + 2 * 64

type Message = CompiledTransactionMessage & CompiledTransactionMessageWithLifetime
type VersionZero = Extract<Message, { version: 0 }>

/** The honest transaction with another message. */
function withMessage(change: (message: VersionZero) => object): string {
  const wire = Uint8Array.from(getBase64Encoder().encode(honest))
  const message = getCompiledTransactionMessageDecoder().decode(wire.slice(HEAD)) as VersionZero
  const changed = { ...message, ...change(message) } as Message
  const bytes = getCompiledTransactionMessageEncoder().encode(changed)
  return getBase64Decoder().decode(Uint8Array.from([...wire.slice(0, HEAD), ...bytes]))
}

const more = (address: Address) => (message: VersionZero) => ({
  staticAccounts: [...message.staticAccounts, address],
})

test('an unsigned transaction is read with its signers and instructions', () => {
  const read = readUnsigned(honest, SIGNERS)

  expect(read?.signers).toEqual([feePayer, wallet.address])
  expect(read?.instructions.map(({ program }) => program)).toEqual(
    Object.values(parts).map(({ programAddress }) => programAddress),
  )
  expect(withMessage(() => ({}))).toBe(honest)
})

const table = { lookupTableAddress: stranger, readonlyIndexes: [0], writableIndexes: [] }

test.each<[string, (message: VersionZero) => object]>([
  ['of an older version', () => ({ version: 'legacy' })],
  ['with a lookup table', () => ({ addressTableLookups: [table] })],
  ['with an account that no instruction names', more(stranger)],
  ['with an account twice', more(wallet.address)],
  [
    'with another number of signers than signatures',
    ({ header }) => ({ header: { ...header, numSignerAccounts: 3 } }),
  ],
  [
    'whose instruction names an account that is not there',
    ({ instructions }) => ({
      instructions: instructions.map((each) => ({
        ...each,
        accountIndices: [...(each.accountIndices ?? []), 99],
      })),
    }),
  ],
])('a transaction %s is not read', (_, change) => {
  expect(readUnsigned(withMessage(change), SIGNERS)).toBeUndefined()
})

test.each([0, 64, 127])('a transaction whose signatures are not empty at byte %s is not read', (at) => {
  const wire = Uint8Array.from(getBase64Encoder().encode(honest))

  expect(readUnsigned(getBase64Decoder().decode(wire.with(1 + at, 1)), SIGNERS)).toBeUndefined()
})

test('a transaction with another number of signatures than asked for is not read', () => {
  expect(readUnsigned(honest, { signers: 1 })).toBeUndefined()
})

test('text that stands for the same bytes but is written otherwise is not read', () => {
  const longer = { ...parts.memo, data: Uint8Array.from([...(parts.memo.data ?? []), 0]) }
  const padded = transactionOf(Object.values({ ...parts, memo: longer }))
  // Some bits of the last digit before the padding stand for nothing.
  const other = padded.replace(/.(?==+$)/, (digit) => String.fromCharCode(digit.charCodeAt(0) + 1))
  const { encode } = getBase64Encoder()

  expect([other === padded, encode(other)]).toEqual([false, encode(padded)])
  expect(readUnsigned(padded, SIGNERS)).toBeDefined()
  expect(readUnsigned(other, SIGNERS)).toBeUndefined()
})
