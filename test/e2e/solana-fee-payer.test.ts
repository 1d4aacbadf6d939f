import { MARKER_BYTES } from '@geoswap/solana-escrow'
import type { QuoteReply } from '@geoswap/wire'
import {
  address,
  type Base64EncodedWireTransaction,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getTransactionDecoder,
  type KeyPairSigner,
  lamports,
  signBytes,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCloseAccountInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { createCheckedClient } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import {
  accountOf,
  authorityOf,
  endFaults,
  hurryToEnd,
  openAccount,
  prepareSolana,
  readEffects,
  type SolanaOperation,
  type SolanaOrder,
  submitSolanaSwap,
  transactionsOf,
  untilLater,
  untilTaken,
} from '../solana-orders.ts'
import { createSolanaWorld, TOKEN_2022_PROGRAM_ADDRESS } from '../solana-world.ts'
import { createWorld, outcomeOf, prepare, stageOf, submitSwap, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha } = world
const solana = await createSolanaWorld(local)
const api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
const counter = { api, solana }

const USDC = 1_000_000n
const recipient = privateKeyToAddress(generatePrivateKey())
const order = { sell: 'USDC', to: alpha, buy: 'USDC', amount: 10n * USDC, recipient }
const held = (owner: string) => solana.balanceOf(owner, solana.token('USDC'))
const rentOf = (bytes: number) => solana.rpc.getMinimumBalanceForRentExemption(BigInt(bytes)).send()
const [emptyRent, markerRent] = [await rentOf(0), await rentOf(MARKER_BYTES)]

afterEach(() => endFaults(solana))

/** The charge of a quote in dollars, in lamports: at 150 dollars, 20 for 3 of a stable's millionths. */
function chargedLamports({ fees }: QuoteReply, ...kinds: string[]): bigint {
  const charged = fees.filter(({ kind }) => kinds.includes(kind))
  return (charged.reduce((sum, { amount }) => sum + BigInt(amount), 0n) * 20n) / 3n
}

/** The amount that a transaction took from its fee payer. */
async function spentOn(signature: string): Promise<bigint> {
  const { feePayer, lamports } = await readEffects(solana, signature)
  return -(lamports.get(feePayer) ?? 0n)
}

/** The input transaction of a settled swap, and the one that moved it into the inventory. */
async function originTransactions({
  destination: account,
  opId,
}: SolanaOperation): Promise<[string, string]> {
  return until(async () => {
    const [input, claim] = await transactionsOf(solana, { account, opId })
    return input && claim && [input.signature, claim.signature]
  })
}

describe('the expenses of a fee payer are charged', () => {
  const orders: [string, SolanaOrder][] = [
    ['for an existing token account', { sell: 'USDG', to: solana, buy: 'USDC', amount: 10n * USDC }],
    ['for a new account', { sell: 'USDC', to: solana, buy: 'GEO', amount: 10n * USDC }],
    ['for SOL', { sell: 'USDC', to: solana, buy: 'SOL', amount: 10n * USDC }],
  ]

  test('as network costs and rent of the swap, transaction by transaction', async () => {
    const settled = orders.map(async ([name, each]) => {
      const wallet = await solana.wallet({ USDC: 10n * USDC, USDG: 10n * USDC })
      const swap = await submitSolanaSwap(counter, wallet, each)
      const { deliveryTxHash = '' } = await outcomeOf({ api }, swap.swapId)
      return { name, ...swap, deliveryTxHash }
    })
    const swaps = await Promise.all(settled)
    await solana.dev.dev_advanceSlots(33).send()

    for (const { name, quote, operation, deliveryTxHash } of swaps) {
      const [input, claim] = await originTransactions(operation)
      // The claim returns the rent of the input's account, and a sweep that of the marker.
      const [taking, claiming] = [await spentOn(input), await spentOn(claim)]
      const delivering = (await spentOn(deliveryTxHash)) - markerRent
      const isOriginCovered = chargedLamports(quote, 'originNetwork') >= taking + claiming
      const isDeliveryCovered = chargedLamports(quote, 'deliveryNetwork', 'accountRent') >= delivering
      expect({ name, isOriginCovered, isDeliveryCovered }).toEqual({
        ...{ name, isOriginCovered: true, isDeliveryCovered: true },
      })
    }
  })

  test('also for an account whose address takes many attempts to derive', async () => {
    const wallet = await walletOfDearAccount()
    await solana.fund(wallet.address, 'USDC', 10n * USDC)

    const swap = await submitSolanaSwap(counter, wallet, {
      ...order,
      to: solana,
      buy: 'USDG',
      recipient: wallet.address,
    })
    const { deliveryTxHash = '' } = await outcomeOf({ api }, swap.swapId)

    const charged = chargedLamports(swap.quote, 'deliveryNetwork', 'accountRent')
    expect(charged).toBeGreaterThanOrEqual((await spentOn(deliveryTxHash)) - markerRent)
  })

  test('also if the recipient closes the created account and it is created again', async () => {
    const owner = await generateKeyPairSigner()
    const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
    const route = { from: alpha, sell: 'USDC', to: solana, buy: 'USDC', amount: 10n * USDC }
    const receive = async () => {
      const { quote, swapId } = await submitSwap({ api }, wallet, { ...route, recipient: owner.address })
      const { deliveryTxHash = '' } = await outcomeOf({ api }, swapId)
      return {
        spent: (await spentOn(deliveryTxHash)) - markerRent,
        charged: chargedLamports(quote, 'deliveryNetwork', 'accountRent'),
      }
    }

    const first = await receive()
    await close(owner)
    const second = await receive()

    expect(first.spent).toBeGreaterThan(2n * emptyRent)
    expect(second.spent).toBeGreaterThan(2n * emptyRent)
    expect(first.charged).toBeGreaterThanOrEqual(first.spent)
    expect(second.charged).toBeGreaterThanOrEqual(second.spent)
  })
})

// Each candidate address from 255 down that lies on the curve costs another 1,500 units.
const DEAR_BUMP = 247

/** A wallet whose account of the newer program costs more to create than most. */
async function walletOfDearAccount(): Promise<KeyPairSigner> {
  const wallet = await generateKeyPairSigner()
  const account = {
    owner: wallet.address,
    mint: solana.token('USDG'),
    tokenProgram: TOKEN_2022_PROGRAM_ADDRESS,
  }
  const [, bump] = await findAssociatedTokenPda(account)
  return bump <= DEAR_BUMP ? wallet : walletOfDearAccount()
}

/** Transfers the account's tokens away, and reclaims its rent. */
async function close(owner: KeyPairSigner): Promise<void> {
  const account = await accountOf(solana, owner.address, 'USDC')
  const destination = await openAccount(solana, solana.payer.address, 'USDC')
  const amount = await held(owner.address)
  const transfer = { source: account, destination, mint: solana.token('USDC'), authority: owner }
  await solana.send(
    getTransferCheckedInstruction({ ...transfer, amount, decimals: 6 }),
    getCloseAccountInstruction({ account, destination: owner.address, owner }),
  )
}

test('an account that was not charged for is not created: closed after the quote, the swap ends failed', async () => {
  const owner = await solana.wallet({ USDC })
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const route = { from: alpha, sell: 'USDC', to: solana, buy: 'USDC', amount: 10n * USDC }
  const { quote, submission } = await prepare({ api }, wallet, { ...route, recipient: owner.address })
  await close(owner)

  const { body } = await api.submit(submission)
  const outcome = await outcomeOf({ api }, body.swapId)

  expect(quote.fees.map(({ kind }) => kind)).not.toContain('accountRent')
  expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'RECIPIENT_INVALID' } })
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(10n * USDC)
  expect(await held(owner.address)).toBe(0n)
})

describe('a stranger that creates the account of an input', () => {
  const create = async (operation: SolanaOperation) => {
    const authority = await authorityOf(operation)
    return openAccount(solana, authority, 'USDC')
  }

  test('makes the swap fail without loss, and the service pays nothing', async () => {
    const wallet = await solana.wallet({ USDC: 10n * USDC })
    const { submission, operation } = await prepareSolana(counter, wallet, order)
    await create(operation)

    const { body } = await api.submitSolana(submission)
    const outcome = await outcomeOf({ api }, body.swapId)

    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'INPUT_UNAVAILABLE' } })
    expect(await held(wallet.address)).toBe(10n * USDC)
    const { destination: account, opId } = operation
    expect(await transactionsOf(solana, { account, opId })).toEqual([])
  })

  test('in the same moment costs the service the fee of one transaction', async () => {
    const wallet = await solana.wallet({ USDC: 10n * USDC })
    const { quote, submission, operation } = await prepareSolana(counter, wallet, order)
    await solana.dev.dev_pauseSlots().send()
    const creating = create(operation)
    await untilTaken(solana, operation)

    const { body } = await api.submitSolana(submission)
    await stageOf({ api }, body.swapId, 'locking')
    await solana.dev.dev_resumeSlots().send()
    await creating
    const outcome = await hurryToEnd(counter, body.swapId)

    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'INPUT_UNAVAILABLE' } })
    expect(await held(wallet.address)).toBe(10n * USDC)
    const { destination: account, opId } = operation
    const [sent, ...more] = await transactionsOf(solana, { account, opId })
    expect([sent?.failed, more]).toEqual([true, []])
    const { fee, feePayer, lamports: changes } = await readEffects(solana, sent?.signature ?? '')
    expect(changes.get(feePayer)).toBe(-fee)
    expect(fee).toBeLessThan(chargedLamports(quote, 'originNetwork'))
  })
})

test("lamports that a stranger sends to an input's address do not stop it, and stay with the service", async () => {
  const wallet = await solana.wallet({ USDC: 10n * USDC })
  const { submission, operation } = await prepareSolana(counter, wallet, order)
  const { destination } = operation
  const gift = { source: solana.payer, destination: address(destination), amount: lamports(emptyRent) }
  await solana.send(getTransferSolInstruction(gift))

  const { body } = await api.submitSolana(submission)

  expect((await outcomeOf({ api }, body.swapId)).status).toBe('settled')
  await solana.dev.dev_advanceSlots(33).send()
  const [taking, claiming] = await originTransactions(operation)
  const { fee } = await readEffects(solana, taking)
  const { fee: claimFee } = await readEffects(solana, claiming)
  expect((await spentOn(taking)) + (await spentOn(claiming))).toBe(fee + claimFee - emptyRent)
})

test('a stranger cannot land the transaction that a wallet signed', async () => {
  const wallet = await solana.wallet({ USDC: 10n * USDC })
  const { submission, operation } = await prepareSolana(counter, wallet, order)
  const { signedTransaction } = submission
  const decoded = getTransactionDecoder().decode(getBase64Encoder().encode(signedTransaction))
  const forged = await signBytes(solana.payer.keyPair.privateKey, decoded.messageBytes)
  const signatures = { ...decoded.signatures, [operation.feePayer]: forged }
  const resigned = getBase64EncodedWireTransaction({ ...decoded, signatures } as typeof decoded)
  const broadcast = (raw: string, skipPreflight: boolean) => {
    const options = { encoding: 'base64', skipPreflight } as const
    return solana.rpc.sendTransaction(raw as Base64EncodedWireTransaction, options).send()
  }

  for (const raw of [signedTransaction, resigned]) {
    await expect(broadcast(raw, false)).rejects.toThrow(/signature/i)
    await broadcast(raw, true)
  }
  await untilLater(solana, 2n)

  expect(await held(wallet.address)).toBe(10n * USDC)
  expect(await transactionsOf(solana, { account: operation.destination, opId: operation.opId })).toEqual([])
  const { body } = await api.submitSolana(submission)
  expect((await outcomeOf({ api }, body.swapId)).status).toBe('settled')
})

test('a fee payer owns no token account', async () => {
  const wallet = await solana.wallet({ USDC: 10n * USDC })
  const { outcome, operation } = await settle(wallet)
  const { feePayer: deliverer } = await readEffects(solana, outcome.deliveryTxHash ?? '')

  const payers = [operation.feePayer, deliverer]
  const owned = payers.flatMap((payer) =>
    [TOKEN_PROGRAM_ADDRESS, TOKEN_2022_PROGRAM_ADDRESS].map(async (programId) => {
      const options = { commitment: 'confirmed', encoding: 'base64' } as const
      return (await solana.rpc.getTokenAccountsByOwner(address(payer), { programId }, options).send()).value
    }),
  )

  expect((await Promise.all(owned)).flat()).toEqual([])
  expect(payers).not.toContain(solana.vault)
})

async function settle(wallet: KeyPairSigner) {
  const swap = await submitSolanaSwap(counter, wallet, {
    sell: 'USDC',
    to: solana,
    buy: 'GEO',
    amount: 10n * USDC,
  })
  return { ...swap, outcome: await outcomeOf({ api }, swap.swapId) }
}
