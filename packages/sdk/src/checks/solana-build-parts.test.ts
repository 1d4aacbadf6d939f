import { AccountRole, type Address, type Instruction } from '@solana/kit'
import { expect, test } from 'vitest'
import { addressOf, nowSeconds } from '../../test/evm-offer.ts'
import * as offer from '../../test/solana-offer.ts'
import { TamperedOperationError } from '../errors.ts'
import { checkSolanaBuild } from './solana-build.ts'
import { type CheckContext, type Terms, toTerms } from './terms.ts'

const { limit, price, memo, create, transfer } = offer.parts
const honest = [limit, price, memo, create, transfer]
const terms = toTerms(offer.solanaRequest, offer.solanaQuote)
const HOLD = 100_000
const context: CheckContext = {
  ...{ nowSeconds: nowSeconds(), maxHoldSeconds: HOLD },
  ...{ origin: offer.pins, destination: {} },
}

type Checked = { told?: Parameters<typeof offer.solanaBuildOf>[1]; terms?: Partial<Terms>; context?: object }

/** The fields that a client refuses; undefined if it signs. */
async function refused(
  transaction: string,
  { told = {}, terms: asked = {}, context: known = {} }: Checked = {},
): Promise<string[] | undefined> {
  const build = offer.solanaBuildOf(transaction, told)
  try {
    expect(await checkSolanaBuild(build, { ...terms, ...asked }, { ...context, ...known })).toBe(transaction)
    return undefined
  } catch (error) {
    if (error instanceof TamperedOperationError) return error.differences.map(({ field }) => field)
    throw error
  }
}

const withAccount = (instruction: Instruction): Instruction => ({
  ...instruction,
  accounts: [...(instruction.accounts ?? []), { address: offer.stranger, role: AccountRole.READONLY }],
})
const withData = (instruction: Instruction, change: (data: Uint8Array) => Uint8Array): Instruction => ({
  ...instruction,
  data: change(Uint8Array.from(instruction.data ?? [])),
})
const longer = (data: Uint8Array) => Uint8Array.from([...data, 0])
const kindOf = (kind: number) => (data: Uint8Array) => Uint8Array.from([kind, ...data.slice(1)])
/** Names only the wallet, which signs. */
const byWallet = (instruction: Instruction): Instruction => ({
  ...instruction,
  accounts: (instruction.accounts ?? []).filter(({ address }) => address === offer.wallet.address),
})
const kindOnly = (data: Uint8Array) => data.slice(0, 4)
const native = offer.nativeTransferOf(offer.destination)
const elsewhere = (instruction: Instruction): Instruction => ({
  ...instruction,
  programAddress: offer.stranger,
})

test('a transaction that locks the input for the asked delivery is signed', async () => {
  expect(await refused(offer.transactionOf(honest))).toBeUndefined()
})

test('a lock of the native coin is signed', async () => {
  const token = '11111111111111111111111111111111'
  const lock = await offer.nativeLockOf()
  const destination = lock[0]?.accounts?.[1]?.address ?? ''
  const told = { token, destination }

  const transaction = offer.transactionOf([limit, price, memo, ...lock])

  expect(await refused(transaction, { told, terms: { inputToken: token } })).toBeUndefined()
})

test('a lock of a token of the newer token program is signed', async () => {
  const program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address
  const lock = await offer.lockOf({}, { mint: terms.inputToken as Address, program, decimals: 6 })
  const destination = lock[0]?.accounts?.[1]?.address ?? ''

  const transaction = offer.transactionOf([limit, price, memo, ...lock])

  expect(await refused(transaction, { told: { destination } })).toBeUndefined()
})

test.each<[string, Instruction[]]>([
  ['no instruction', []],
  ['no memo', [limit, price, create, transfer]],
  ['no transfer', [limit, price, memo, create]],
  ['one instruction more', [...honest, transfer]],
  ['its parts in another order', [price, limit, memo, create, transfer]],
  ['a budget of another program', [elsewhere(limit), price, memo, create, transfer]],
  ['a budget with an account', [withAccount(limit), price, memo, create, transfer]],
  ['a longer budget', [withData(limit, longer), price, memo, create, transfer]],
  ['a price of another kind', [limit, withData(price, kindOf(4)), memo, create, transfer]],
  ['a longer price', [limit, withData(price, longer), memo, create, transfer]],
  ['a memo of another program', [limit, price, elsewhere(memo), create, transfer]],
  ['a memo with an account', [limit, price, withAccount(memo), create, transfer]],
  ['a memo of another form', [limit, price, withData(memo, longer), create, transfer]],
  ['a transfer by another program', [limit, price, memo, create, elsewhere(transfer)]],
  ['a longer transfer', [limit, price, memo, create, withData(transfer, longer)]],
  ['a transfer with one account more', [limit, price, memo, create, withAccount(transfer)]],
  ['a transfer that names no token', [limit, price, memo, create, byWallet(transfer)]],
  ['a longer transfer of the native coin', [limit, price, memo, create, withData(native, longer)]],
  ['a transfer of the native coin without amount', [limit, price, memo, create, withData(native, kindOnly)]],
  ['a transfer of the native coin by another program', [limit, price, memo, create, elsewhere(native)]],
  ['another kind of transfer', [limit, price, memo, create, withData(transfer, kindOf(3))]],
  ['a new account by another program', [limit, price, memo, elsewhere(create), transfer]],
  ['a longer creation', [limit, price, memo, withData(create, longer), transfer]],
])('a transaction with %s is refused', async (_, instructions) => {
  expect(await refused(offer.transactionOf(instructions))).toContain('unsignedTransaction')
})

test('bytes that are no transaction are refused', async () => {
  expect(await refused('AAAA')).toEqual(['unsignedTransaction'])
  expect(await refused(`${offer.transactionOf(honest)}AAAA`)).toEqual(['unsignedTransaction'])
})

const transferTo = (destination: Address) => [limit, price, memo, create, offer.transferOf({ destination })]

test.each<[string, string, Checked, string[]]>([
  ['from another wallet', offer.transactionOf(honest), { terms: { wallet: offer.stranger } }, ['wallet']],
  ['of another token', offer.transactionOf(honest), { terms: { inputToken: offer.stranger } }, ['token']],
  ['of another amount', offer.transactionOf(honest), { terms: { inputAmount: 1n } }, ['amount']],
  [
    'in another program',
    offer.transactionOf(honest),
    { context: { origin: { ...offer.pins, escrow: offer.stranger } } },
    ['destination', 'delivery.ring'],
  ],
  [
    'for another vault',
    offer.transactionOf(honest),
    { context: { origin: { ...offer.pins, vault: offer.stranger } } },
    ['destination'],
  ],
  [
    'for another delivery than the memo names',
    offer.transactionOf([limit, price, offer.memoOf({ ...offer.delivery, index: 7n }), create, transfer]),
    {},
    ['opId', 'destination', 'operation.opId'],
  ],
  ['to a stranger', offer.transactionOf(transferTo(offer.stranger)), {}, ['unsignedTransaction']],
  [
    'from an account of somebody else',
    offer.transactionOf([limit, price, memo, create, offer.transferOf({ source: offer.stranger })]),
    {},
    ['source'],
  ],
  [
    'that is described otherwise',
    offer.transactionOf(honest),
    { told: { amount: '1', destination: offer.stranger } },
    ['operation.amount', 'operation.destination'],
  ],
  [
    'to another recipient',
    offer.transactionOf(honest),
    { terms: { recipient: `0x${'1'.repeat(64)}` } },
    ['delivery.recipient'],
  ],
  [
    'to another vault of the destination',
    offer.transactionOf(honest),
    { context: { destination: { vault: addressOf('2') } } },
    ['delivery.vault'],
  ],
  [
    'for longer than the client allows',
    offer.transactionOf(honest),
    { context: { maxHoldSeconds: 4_000 } },
    ['refundDeadline'],
  ],
])('a lock %s is refused', async (_, transaction, checked, fields) => {
  expect(await refused(transaction, checked)).toEqual(fields)
})

test('a refund before the delivery ends is refused', async () => {
  const { fillDeadline } = offer.delivery
  const lockedUntil = async (refundDeadline: bigint) => {
    const [made, moved] = (await offer.lockOf({ refundDeadline })) as [Instruction, Instruction]
    const destination = made.accounts?.[1]?.address ?? ''
    const transaction = offer.transactionOf([
      ...[limit, price, offer.memoOf(offer.delivery, refundDeadline), made, moved],
    ])
    return refused(transaction, { told: { destination, refundDeadline: `${refundDeadline}` } })
  }

  expect(await lockedUntil(fillDeadline)).toEqual(['refundDeadline'])
  expect(await lockedUntil(fillDeadline + 1n)).toBeUndefined()
})
