import { type Delivery, hashDelivery, solanaRingOf } from '@geoswap/protocol'
import {
  AccountRole,
  type Address,
  getBase64Decoder,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction,
} from '@solana/kit'
import { getTransferCheckedInstructionDataDecoder, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nowSeconds, vault, wordOf } from '../../test/evm-offer.ts'
import {
  accountOf,
  delivery,
  destination,
  feePayer,
  lockOf,
  memoOf,
  nativeLockOf,
  nativeTransferOf,
  type Parts,
  parts,
  pins,
  refundDeadline,
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
  origin: pins,
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
  const build = async (change: Parameters<typeof nativeLockOf>[0] = {}) => {
    const { limit, price, memo } = parts
    const lock = await nativeLockOf(change)
    const [account] = lock[0]?.accounts?.slice(1) ?? []
    const told = { token: NATIVE, destination: String(account?.address) }
    return solanaBuildOf(transactionOf([limit, price, memo, ...lock]), told)
  }

  test('a lock in the escrow of these terms is accepted', async () => {
    expect(await fieldsRefused(await build(), { asked })).toEqual([])
  })

  test('a lock in the escrow of other terms is refused', async () => {
    expect(await fieldsRefused(await build({ vault: stranger }), { asked })).toEqual(['destination'])
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
    expect(await refusedWith(withParts({ memo: extra }))).toEqual(unreadable)
  })

  test('when the wallet pays the network fee', async () => {
    const transaction = transactionOf(withParts({}), wallet.address)

    expect(await fieldsRefused(solanaBuildOf(transaction))).not.toEqual([])
  })

  test('when the fee payer is not the one that pays for the account', async () => {
    const transaction = transactionOf(withParts({}), stranger)

    expect(await fieldsRefused(solanaBuildOf(transaction))).toEqual(unreadable)
  })

  test('when the reply names another fee payer', async () => {
    const [create = parts.create, transfer = parts.transfer] = await lockOf({ rentReceiver: stranger })
    const transaction = transactionOf(withParts({ create, transfer }), stranger)
    const account = String(create.accounts?.[1]?.address)

    const build = solanaBuildOf(transaction, { destination: account })
    expect(await fieldsRefused(build)).toEqual(['operation.feePayer'])
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

    expect(await refusedWith(withParts({ transfer }), { amount: '10000001' })).toEqual([
      'amount',
      // The escrow's address follows from the amount.
      'destination',
    ])
  })

  test('another mint', async () => {
    const { program, decimals } = { program: TOKEN_PROGRAM_ADDRESS, decimals: 6 }
    const [create = parts.create, transfer = parts.transfer] = await lockOf(
      {},
      { mint: stranger, program, decimals },
    )

    const told = { token: stranger, destination: String(create.accounts?.[1]?.address) }
    expect(await refusedWith(withParts({ create, transfer }), told)).toEqual(['token'])
  })

  test('from another account that the wallet may sign for', async () => {
    const transfer = transferOf({ source: await accountOf(stranger) })

    expect(await refusedWith(withParts({ transfer }))).toEqual(['source'])
  })

  test('to another account than the new one', async () => {
    const transfer = transferOf({ destination: await accountOf(stranger) })

    expect(await refusedWith(withParts({ transfer }))).toEqual(['unsignedTransaction'])
  })

  test('with data of another length', async () => {
    const transfer = { ...parts.transfer, data: parts.transfer.data?.slice(0, 9) as Uint8Array }

    expect(await refusedWith(withParts({ transfer }))).toEqual(['unsignedTransaction'])
  })

  test('by another wallet', async () => {
    const [create = parts.create, transfer = parts.transfer] = await lockOf({ wallet: stranger })

    const told = { wallet: stranger, destination: String(create.accounts?.[1]?.address) }
    expect(await refusedWith(withParts({ create, transfer }), told)).toEqual(['wallet'])
  })
})

describe('an escrow of other terms is refused', () => {
  const changes = [
    ['the vault', { vault: stranger }],
    ['the attester', { attester: stranger }],
    ['the wallet that gets the refund', { wallet: stranger }],
    ['the receiver of the rent', { rentReceiver: stranger }],
    ['the op', { opId: `0x${'7'.repeat(64)}` }],
    ['the deadline', { refundDeadline: refundDeadline + 1n }],
  ] as const

  test.each(changes)('%s', async (_what, change) => {
    const [create = parts.create] = await lockOf(change)
    const account = create.accounts?.[1]?.address ?? stranger
    const owner = create.accounts?.[2]
    const accounts = parts.create.accounts?.map((meta, at) =>
      at === 1 ? { ...meta, address: account } : at === 2 && owner ? owner : meta,
    )
    const honestButElsewhere = { ...parts.create, ...(accounts && { accounts }) }
    const transfer = transferOf({ destination: account })

    const told = { destination: account }
    expect(await refusedWith(withParts({ create: honestButElsewhere, transfer }), told)).toEqual([
      'destination',
    ])
  })

  test.each([
    ['before the delivery ends', delivery.fillDeadline],
    ['too far away', BigInt(nowSeconds() + 100_000)],
  ])('a refund deadline %s', async (_what, deadline) => {
    const [create = parts.create, transfer = parts.transfer] = await lockOf({ refundDeadline: deadline })
    const memo = memoOf(delivery, deadline)

    const told = { destination: String(create.accounts?.[1]?.address), refundDeadline: `${deadline}` }
    expect(await refusedWith(withParts({ memo, create, transfer }), told)).toEqual(['refundDeadline'])
  })
})

describe('a memo for a different delivery is refused', () => {
  const changes: [string, Partial<Delivery>][] = [
    ['delivery.destinationChain', { destinationChain: 1n }],
    ['delivery.outputToken', { outputToken: wordOf('2') }],
    ['delivery.recipient', { recipient: wordOf('2') }],
    ['delivery.minOutput', { minOutput: terms.minOutput - 1n }],
    ['delivery.vault', { vault: wordOf('2') }],
    ['delivery.ring', { ring: solanaRingOf({ chainId: 31_339, program: stranger }) }],
    ['delivery.fillDeadline', { fillDeadline: BigInt(nowSeconds() - 1_000) }],
    ['delivery.fillDeadline', { fillDeadline: BigInt(nowSeconds() + 100_000) }],
  ]

  test.each(changes)('%s, visible in the reply', async (field, change) => {
    const owed = { ...delivery, ...change }
    const [create = parts.create, transfer = parts.transfer] = await lockOf({ opId: hashDelivery(owed) })

    const told = { owed, destination: String(create.accounts?.[1]?.address) }
    const refused = await refusedWith(withParts({ memo: memoOf(owed), create, transfer }), told)
    expect([...new Set(refused)]).toContain(field)
    expect(refused.filter((each) => each !== 'refundDeadline')).toEqual([field])
  })

  test.each([...changes, ['delivery.index', { index: 7n }] as const])(
    '%s, hidden behind the honest delivery',
    async (_field, change) => {
      const memo = memoOf({ ...delivery, ...change })

      expect(await refusedWith(withParts({ memo }))).toContain('opId')
    },
  )
})

test.each(['wallet', 'token', 'amount', 'destination', 'feePayer', 'refundDeadline'])(
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
    memo: new TextDecoder().decode(Uint8Array.from(message.instructions[2]?.data ?? [])),
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
