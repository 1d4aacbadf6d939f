import { type Delivery, solanaRingOf } from '@geoswap/protocol'
import {
  AccountRole,
  type Address,
  getBase64Decoder,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction,
} from '@solana/kit'
import { getTransferCheckedInstructionDataDecoder } from '@solana-program/token'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nowSeconds, vault, wordOf } from '../../test/evm-offer.ts'
import {
  accountOf,
  delivery,
  destination,
  feePayer,
  intake,
  markerOf,
  memoOf,
  nativeTransferOf,
  type Parts,
  parts,
  solanaBuildOf,
  solanaQuote,
  solanaRequest,
  stranger,
  transactionOf,
  transferOf,
  wallet,
} from '../../test/solana-offer.ts'
import { TamperedOperationError } from '../errors.ts'
import { fromKitSigner } from '../signers.ts'
import { checkSolanaBuild } from './solana-build.ts'
import { type CheckContext, toTerms } from './terms.ts'

const NATIVE = '11111111111111111111111111111111'
const terms = toTerms(solanaRequest, solanaQuote)
const context: CheckContext = {
  nowSeconds: nowSeconds(),
  maxHoldSeconds: 86_400,
  origin: { escrow: intake },
  destination: { vault },
}
const unknownVault: CheckContext = { ...context, destination: {} }

type Build = ReturnType<typeof solanaBuildOf>

async function fieldsRefused(build: Build, { known = context, asked = terms } = {}): Promise<string[]> {
  try {
    await checkSolanaBuild(build, asked, known)
    return []
  } catch (error) {
    if (error instanceof TamperedOperationError) return error.differences.map(({ field }) => field)
    throw error
  }
}

const withParts = (change: Partial<Parts>) => Object.values({ ...parts, ...change })
const refusedWith = (instructions: Instruction[], told: Parameters<typeof solanaBuildOf>[1] = {}) =>
  fieldsRefused(solanaBuildOf(transactionOf(instructions), told))
const honest = transactionOf(withParts({}))

test('the requested transaction is accepted, with and without a known vault', async () => {
  expect(await fieldsRefused(solanaBuildOf(honest))).toEqual([])
  expect(await fieldsRefused(solanaBuildOf(honest), { known: unknownVault })).toEqual([])
})

describe('the native coin', () => {
  const asked = { ...terms, inputToken: NATIVE }
  const build = (to: Address) =>
    solanaBuildOf(transactionOf(withParts({ transfer: nativeTransferOf(to) })), {
      token: NATIVE,
      source: wallet.address,
      destination: to,
    })

  test('a transfer to the intake vault is accepted', async () => {
    expect(await fieldsRefused(build(intake), { asked })).toEqual([])
  })

  test('a transfer to another account is refused, since the ring names the intake vault', async () => {
    expect(await fieldsRefused(build(stranger), { asked })).toEqual(['destination'])
  })
})

describe('a transaction with any other effect is refused', () => {
  const unreadable = ['unsignedTransaction']

  test.each(Object.keys(parts) as (keyof Parts)[])('without its %s', async (part) => {
    const instructions = Object.entries(parts).flatMap(([name, each]) => (name === part ? [] : [each]))

    expect(await refusedWith(instructions)).toEqual(unreadable)
  })

  test.each(Object.keys(parts) as (keyof Parts)[])('with its %s twice', async (part) => {
    expect(await refusedWith([...withParts({}), parts[part]])).toEqual(unreadable)
  })

  test('with its instructions in another order', async () => {
    expect(await refusedWith(withParts({}).reverse())).toEqual(unreadable)
  })

  test('with a second transfer', async () => {
    const extra = nativeTransferOf(stranger)

    expect(await refusedWith([...withParts({}), extra])).toEqual(unreadable)
    expect(await refusedWith(withParts({ marker: extra }))).toEqual(unreadable)
  })

  test('when the wallet pays the network fee', async () => {
    const transaction = transactionOf(withParts({ marker: markerOf(wallet.address) }), wallet.address)

    expect(await fieldsRefused(solanaBuildOf(transaction))).toEqual(unreadable)
  })

  test('when the fee payer is not the one in the marker', async () => {
    const transaction = transactionOf(withParts({}), stranger)

    expect(await fieldsRefused(solanaBuildOf(transaction))).toEqual(unreadable)
  })

  test('when the reply names another fee payer', async () => {
    const transaction = transactionOf(withParts({ marker: markerOf(stranger) }), stranger)

    expect(await fieldsRefused(solanaBuildOf(transaction))).toEqual(['operation.feePayer'])
  })

  test('with a third signer, or with the wallet listed twice', async () => {
    const naming = (role: AccountRole, account: Address): Instruction => ({
      ...parts.memo,
      accounts: [{ address: account, role }],
    })

    expect(await refusedWith(withParts({ memo: naming(AccountRole.READONLY_SIGNER, stranger) }))).toEqual(
      unreadable,
    )
    expect(
      await refusedWith(withParts({ memo: naming(AccountRole.READONLY_SIGNER, wallet.address) })),
    ).toEqual(unreadable)
  })

  test('when it is already signed', async () => {
    const signed = await fromKitSigner(wallet).signTransaction(honest)

    expect(await fieldsRefused(solanaBuildOf(signed))).toEqual(unreadable)
  })

  test.each(['', 'AgAA', '*', `${honest}AA==`, honest.slice(4)])(
    'when it is not a transaction: %.8s',
    async (text) => {
      expect(await fieldsRefused(solanaBuildOf(text))).toEqual(unreadable)
    },
  )
})

describe('a different transfer is refused', () => {
  test('another amount', async () => {
    const transfer = transferOf({ amount: 10_000_001n })

    expect(await refusedWith(withParts({ transfer }), { amount: '10000001' })).toEqual(['amount'])
  })

  test('another mint', async () => {
    const [from, to] = [await accountOf(wallet.address, stranger), await accountOf(intake, stranger)]
    const transfer = transferOf({ mint: stranger, source: from, destination: to })

    const told = { token: stranger, source: from, destination: to }
    expect(await refusedWith(withParts({ transfer }), told)).toEqual(['token'])
  })

  test('from another account that the wallet may sign for', async () => {
    const from = await accountOf(stranger)

    const transfer = transferOf({ source: from })
    expect(await refusedWith(withParts({ transfer }), { source: from })).toEqual(['source'])
  })

  test("to an account that is not the known intake vault's", async () => {
    const to = await accountOf(stranger)

    const transfer = transferOf({ destination: to })
    expect(await refusedWith(withParts({ transfer }), { destination: to })).toEqual(['destination'])
  })

  test('by another wallet', async () => {
    const from = await accountOf(stranger)
    const transfer = transferOf({ from: stranger, source: from })

    const told = { wallet: stranger, source: from }
    expect(await refusedWith(withParts({ transfer }), told)).toEqual(['wallet'])
  })
})

describe('a memo for a different delivery is refused', () => {
  const changes: [string, Partial<Delivery>][] = [
    ['delivery.destinationChain', { destinationChain: 1n }],
    ['delivery.outputToken', { outputToken: wordOf('2') }],
    ['delivery.recipient', { recipient: wordOf('2') }],
    ['delivery.minOutput', { minOutput: terms.minOutput - 1n }],
    ['delivery.vault', { vault: wordOf('2') }],
    ['delivery.ring', { ring: solanaRingOf({ chainId: 31_339, intake: stranger }) }],
    ['delivery.fillDeadline', { fillDeadline: BigInt(nowSeconds() - 1_000) }],
    ['delivery.fillDeadline', { fillDeadline: BigInt(nowSeconds() + 100_000) }],
  ]

  test.each(changes)('%s, visible in the reply', async (field, change) => {
    const owed = { ...delivery, ...change }

    expect(await refusedWith(withParts({ memo: memoOf(owed) }), { owed })).toEqual([field])
  })

  test.each([...changes, ['delivery.index', { index: 7n }] as const])(
    '%s, hidden behind the honest delivery',
    async (_field, change) => {
      const memo = memoOf({ ...delivery, ...change })

      expect(await refusedWith(withParts({ memo }))).toContain('opId')
    },
  )
})

test.each(['wallet', 'token', 'amount', 'source', 'destination', 'feePayer'])(
  'a reply that reports another %s than the transaction is refused',
  async (field) => {
    expect(await fieldsRefused(solanaBuildOf(honest, { [field]: stranger }))).toEqual([`operation.${field}`])
  },
)

/** The effects of the wallet's signature, read with the decoders of the programs themselves. */
function effectsOf(base64: string) {
  const { messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(base64))
  const { header, staticAccounts, ...message } = getCompiledTransactionMessageDecoder().decode(messageBytes)
  if (!('instructions' in message)) throw new Error('Not a message of version 0')
  const transfer = message.instructions[4]
  const data = getTransferCheckedInstructionDataDecoder().decode(transfer?.data ?? new Uint8Array())
  return {
    signers: staticAccounts.slice(0, header.numSignerAccounts),
    count: message.instructions.length,
    programs: message.instructions.map(({ programAddressIndex }) => staticAccounts[programAddressIndex]),
    accounts: transfer?.accountIndices?.map((index) => staticAccounts[index]),
    amount: data.amount,
    kind: data.discriminator,
    memo: new TextDecoder().decode(Uint8Array.from(message.instructions[3]?.data ?? [])),
  }
}

test('any changed byte is refused, or leaves the effect on the wallet unchanged', async () => {
  const bytes = Uint8Array.from(getBase64Encoder().encode(honest))
  const expected = effectsOf(honest)
  expect(expected).toMatchObject({ signers: [feePayer, wallet.address], amount: 10_000_000n, count: 5 })
  expect(expected.accounts).toContain(destination)
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: bytes.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
      async (at, flip) => {
        const changed = bytes.with(at, (bytes[at] ?? 0) ^ flip)
        const transaction = getBase64Decoder().decode(changed)
        const refused = await fieldsRefused(solanaBuildOf(transaction))
        if (refused.length === 0) expect(effectsOf(transaction)).toEqual(expected)
      },
    ),
    { numRuns: 500 },
  )
})
