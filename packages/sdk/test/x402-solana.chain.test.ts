import { stub } from '@geoswap/protocol/test/stub'
import { startWorld, type World } from '@geoswap/solana-rpc/test/world'
import { type Address, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import {
  AccountState,
  findAssociatedTokenPda,
  getBurnInstruction,
  getMintEncoder,
  getTokenEncoder,
  TOKEN_PROGRAM_ADDRESS as TOKEN,
} from '@solana-program/token'
import { toFacilitatorSvmSigner } from '@x402/svm'
import { ExactSvmScheme } from '@x402/svm/exact/facilitator'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Client } from '../src/client.ts'
import { fromKitSigner } from '../src/signers.ts'
import { payX402, type X402Note, type X402Options } from '../src/x402/pay-x402.ts'

const chainId = 31_339
const LOCAL = `solana:${chainId}`
// The public facilitator knows the public clusters alone.
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address
const URL = 'https://seller.example/report'
const PRICE = 250_000n
const HELD = 1_000_000n
const EXPIRED_SLOTS = 200

let world: World
let mint: Address
let payee: Address
let keys: ReturnType<typeof toFacilitatorSvmSigner>
let facilitator: ExactSvmScheme
let feePayer: Address

const newAddress = async () => (await generateKeyPairSigner()).address

beforeAll(async () => {
  world = await startWorld({ slotMs: 50 })
  const payer = await world.fundedSigner()
  feePayer = payer.address
  keys = toFacilitatorSvmSigner(payer, { defaultRpcUrl: world.chain.rpcUrl })
  facilitator = new ExactSvmScheme(keys)
  mint = await createMint()
  await world.dev.dev_advanceSlots(50).send()
})
beforeEach(async () => {
  payee = await newAddress()
  await hold(payee, 0n)
})
afterAll(() => world?.chain.stop())

type Of = { of?: Address; program?: Address; state?: AccountState; owner?: Address }

async function write(at: Address, data: Uint8Array, owner: Address): Promise<void> {
  await world.dev
    .dev_setAccount(at, {
      ...{ lamports: 10_000_000, owner, executable: false },
      data: [Buffer.from(data).toString('base64'), 'base64'],
    })
    .send()
  // It is read from confirmed blocks.
  await world.dev.dev_advanceSlots(2).send()
}

async function createMint({ decimals = 6, program = TOKEN as Address } = {}): Promise<Address> {
  const at = await newAddress()
  const authorities = { mintAuthority: null, freezeAuthority: null }
  const data = getMintEncoder().encode({ ...authorities, decimals, supply: 10n ** 12n, isInitialized: true })
  await write(at, Uint8Array.from(data), program)
  return at
}

const accountOf = async (owner: Address, { of = mint, program = TOKEN }: Of = {}) =>
  (await findAssociatedTokenPda({ owner, mint: of, tokenProgram: program }))[0]

async function hold(wallet: Address, amount: bigint, options: Of = {}): Promise<Address> {
  const { of = mint, program = TOKEN, state = AccountState.Initialized } = options
  const at = await accountOf(wallet, options)
  const none = { delegate: null, isNative: null, delegatedAmount: 0n, closeAuthority: null }
  const owner = options.owner ?? wallet
  const data = getTokenEncoder().encode({ ...none, mint: of, owner, amount, state })
  await write(at, Uint8Array.from(data), program)
  return at
}

async function earned(options: Of = {}): Promise<bigint> {
  const { value } = await world.rpc
    .getTokenAccountBalance(await accountOf(payee, options), { commitment: 'confirmed' })
    .send()
  return BigInt(value.amount)
}

type Extra = { feePayer?: unknown; memo?: unknown }
type Changed = { asset?: string; payTo?: string; amount?: string; network?: string; extra?: Extra }

/** A seller that the public facilitator settles for. */
function createSeller(changed: Changed = {}) {
  const offer = {
    ...{ scheme: 'exact', network: LOCAL, asset: mint, amount: `${PRICE}`, payTo: payee },
    ...{ maxTimeoutSeconds: 60, ...changed, extra: { feePayer, ...changed.extra } },
  }
  const requirements = { ...offer, network: DEVNET } as never
  async function settle(payment: object): Promise<Response> {
    const { success, errorReason, transaction } = await facilitator.settle(payment as never, requirements)
    const receipt = Buffer.from(JSON.stringify({ success, errorReason, transaction })).toString('base64')
    return new Response('fine', { status: success ? 200 : 402, headers: { 'payment-response': receipt } })
  }
  const seller = {
    ...{ payments: [] as string[], settle },
    /** Undefined: no answer. */
    answer: settle as (payment: object) => Promise<Response | undefined>,
    fetch: (async (_url, init): Promise<Response> => {
      const paid = new Headers(init?.headers).get('payment-signature')
      if (paid === null) {
        const demand = { x402Version: 2, accepts: [offer], resource: { url: URL } }
        const header = Buffer.from(JSON.stringify(demand)).toString('base64')
        return new Response('', { status: 402, headers: { 'payment-required': header } })
      }
      const payment = JSON.parse(Buffer.from(paid, 'base64').toString())
      seller.payments.push(payment.payload.transaction)
      const answer: Response | undefined = await seller.answer({
        ...payment,
        accepted: { ...payment.accepted, network: DEVNET },
      })
      if (!answer) throw new TypeError('The connection broke')
      return answer
    }) as typeof fetch,
  }
  return seller
}

async function createPayer(held: bigint, options: Of = {}) {
  const wallet = await generateKeyPairSigner()
  if (held > 0n) await hold(wallet.address, held, options)
  const token = { address: mint, chainId, decimals: 6, priceUsd: '1.00', symbol: 'USDC' }
  const client = stub<Client>({ tokens: async () => ({ tokens: [token] }) })
  const store = new Map<string, X402Note>()
  let signed = 0
  const { address, signTransaction } = fromKitSigner(wallet)
  const payer: X402Options['payer'] = {
    address,
    async signTransaction(transaction) {
      signed += 1
      return signTransaction(transaction)
    },
  }
  const rpcUrls = { [chainId]: world.chain.rpcUrl }
  const base = { payer, rpcUrls, store, confirm: () => true }
  return {
    ...{ wallet, store },
    signed: () => signed,
    pay: (seller: { fetch: typeof fetch }, more: Partial<X402Options> = {}) =>
      payX402(client, URL, { ...base, fetch: seller.fetch, ...more }),
  }
}

test.each([
  ['of the token program', TOKEN, undefined],
  ['of the newer token program', TOKEN_2022, undefined],
  ['with a memo of the seller', TOKEN, 'order 7'],
])('the public facilitator takes a payment %s once, and pays its fee', async (_, program, memo) => {
  const of = program === TOKEN ? mint : await createMint({ program })
  await hold(payee, 0n, { of, program })
  const { pay, store, signed, wallet } = await createPayer(HELD, { of, program })
  const seller = createSeller({ asset: of, extra: memo === undefined ? {} : { memo } })

  const { body, payment, transaction } = await pay(seller)

  expect(new TextDecoder().decode(body)).toBe('fine')
  expect(transaction).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/)
  expect(payment).toMatchObject({ chainId, symbol: program === TOKEN_2022 ? of : 'USDC' })
  expect([await earned({ of, program }), signed(), store.size]).toEqual([PRICE, 1, 0])
  const { value } = await world.rpc.getBalance(wallet.address).send()
  expect(value).toBe(0n)
})

test('a payment without an answer is sent again as it is, until no block can take it', async () => {
  const { pay, signed } = await createPayer(HELD)
  const seller = createSeller()
  seller.answer = async () => undefined

  await expect(pay(seller)).rejects.toMatchObject({ code: 'X402_NO_ANSWER', standing: { payment: 'open' } })
  await expect(pay(seller)).rejects.toMatchObject({ code: 'X402_NO_ANSWER' })
  expect([new Set(seller.payments).size, signed()]).toEqual([1, 1])
  await world.dev.dev_advanceSlots(EXPIRED_SLOTS).send()
  seller.answer = seller.settle
  await pay(seller)

  expect([new Set(seller.payments).size, signed(), await earned()]).toEqual([2, 2, PRICE])
})

test('a payment that was taken and not answered is known by the chain, also once its time is over', async () => {
  const { pay, signed, store } = await createPayer(HELD)
  const seller = createSeller({ extra: { memo: 'always the same' } })
  seller.answer = async (payment) => {
    await seller.settle(payment)
    return undefined
  }

  await expect(pay(seller)).rejects.toMatchObject({ code: 'X402_NO_ANSWER', standing: { payment: 'taken' } })
  const [[key = '', note] = []] = [...store]
  await expect(pay(seller)).rejects.toMatchObject({ code: 'X402_TAKEN', standing: { payment: 'taken' } })
  await world.dev.dev_advanceSlots(EXPIRED_SLOTS).send()
  await expect(pay(seller)).rejects.toMatchObject({ code: 'X402_TAKEN' })
  seller.answer = seller.settle
  await pay(seller, { again: true })
  // Another payment with the same memo is not taken for it.
  if (note) store.set(key, note)
  await expect(pay(seller)).rejects.toMatchObject({ code: 'X402_TAKEN' })

  expect([signed(), await earned()]).toEqual([2, 2n * PRICE])
})

test('a payment that failed on the chain is over once that is final', async () => {
  const { pay, signed, wallet } = await createPayer(PRICE)
  const seller = createSeller()
  const source = await accountOf(wallet.address)
  const poor = await world.fundedSigner()
  seller.answer = async (payment) => {
    const burn = getBurnInstruction({ account: source, mint, authority: wallet, amount: PRICE })
    await world.send(poor, [burn])
    await land(payment)
    return undefined
  }

  await expect(pay(seller)).rejects.toMatchObject({ code: 'X402_NO_ANSWER', standing: { payment: 'open' } })
  await hold(wallet.address, PRICE)
  seller.answer = seller.settle
  await world.dev.dev_advanceSlots(40).send()
  await pay(seller)

  expect([signed(), await earned()]).toEqual([2, PRICE])
})

/** Sends a payment without a look at it, and waits until it is confirmed. */
async function land(payment: object): Promise<void> {
  const { transaction } = (payment as { payload: { transaction: string } }).payload
  const signed = await keys.signTransaction(transaction, feePayer, DEVNET)
  await keys.sendTransaction(signed, DEVNET)
  await world.dev.dev_advanceSlots(2).send()
}

test('two payments with the memo of the seller in one slot are two transactions', async () => {
  const { pay } = await createPayer(HELD)
  const seller = createSeller({ extra: { memo: 'shop' } })
  seller.answer = async () => new Response('fine')
  await world.dev.dev_pauseSlots().send()

  await pay(seller)
  await pay(seller)
  await world.dev.dev_resumeSlots().send()

  expect(new Set(seller.payments).size).toBe(2)
})

test('a wallet that signs anything else has signed nothing that is sent', async () => {
  const { pay, wallet, store } = await createPayer(HELD)
  const seller = createSeller()
  const kit = fromKitSigner(wallet)
  const changed = (change: (wire: Buffer) => Buffer) => ({
    ...kit,
    async signTransaction(transaction: string) {
      const wire = Buffer.from(await kit.signTransaction(transaction), 'base64')
      return change(wire).toString('base64')
    },
  })

  for (const change of [
    (wire: Buffer) => wire.fill(0, 65, 129),
    (wire: Buffer) => wire.fill(1, 200, 201),
    (wire: Buffer) => Buffer.concat([wire, Buffer.of(0)]),
    () => Buffer.alloc(0),
  ])
    await expect(pay(seller, { payer: changed(change) })).rejects.toMatchObject({ code: 'SIGNER' })

  expect([seller.payments, store.size]).toEqual([[], 0])
})

type Made = { wallet: KeyPairSigner }

test.each<[string, (made: Made) => Promise<Changed>, RegExp]>([
  [
    'whose fee payer is the payer',
    async ({ wallet }) => ({ extra: { feePayer: wallet.address } }),
    /is the payer/,
  ],
  ['without a fee payer', async () => ({ extra: { feePayer: undefined } }), /no address that can sign/],
  [
    'whose fee payer has no key',
    async () => ({ extra: { feePayer: await accountOf(payee) } }),
    /no address that can sign/,
  ],
  [
    'whose fee payer is its token',
    async () => ({ extra: { feePayer: mint } }),
    /account of the transfer itself/,
  ],
  ['whose token is a wallet', async () => ({ asset: feePayer }), /is no token/],
  ['whose token is an account of one', async () => ({ asset: await accountOf(payee) }), /is no token/],
  ['whose token is nothing', async () => ({ asset: await newAddress() }), /is no token/],
  [
    'whose token has 200 decimals',
    async () => ({ asset: await createMint({ decimals: 200 }) }),
    /200 decimals/,
  ],
  ['to the payer', async ({ wallet }) => ({ payTo: wallet.address }), /payTo is the payer/],
  ['to a token account', async () => ({ payTo: await accountOf(payee) }), /token account or a program/],
  ['to a program', async () => ({ payTo: TOKEN }), /token account or a program/],
  ['to an EVM address', async () => ({ payTo: `0x${'1'.repeat(40)}` }), /payTo is no address/],
  ['of more than there can be', async () => ({ amount: `${2n ** 64n}` }), /more than there can be/],
  ['with a long memo', async () => ({ extra: { memo: 'é'.repeat(129) } }), /extra.memo/],
  ['with a memo that is no text', async () => ({ extra: { memo: ['x'] } }), /extra.memo/],
  [
    'on a cluster that the node does not serve',
    async () => ({ network: DEVNET }),
    /belongs to another chain/,
  ],
  ['on a lookalike', async () => ({ network: `${DEVNET.slice(0, -1)}2` }), /network is not known/],
  ['on this chain by another family', async () => ({ network: `eip155:${chainId}` }), /asset is no address/],
])('an offer %s is refused, and nothing is signed', async (_, change, why) => {
  const { pay, wallet, signed, store } = await createPayer(HELD)
  const seller = createSeller(await change({ wallet }))
  const rpcUrls = { [chainId]: world.chain.rpcUrl, 792703810: world.chain.rpcUrl }

  await expect(pay(seller, { rpcUrls })).rejects.toMatchObject({
    ...{ code: 'X402_UNPAYABLE', reasons: [expect.stringMatching(why)] },
  })

  expect([signed(), seller.payments, store.size]).toEqual([0, [], 0])
})

test.each<[string, Of, RegExp]>([
  ['frozen', { state: AccountState.Frozen }, /frozen/],
  ["another wallet's", { owner: TOKEN_2022 }, /belongs to somebody else/],
])('a token account that is %s does not pay', async (_, options, why) => {
  const { pay } = await createPayer(HELD, options)

  await expect(pay(createSeller())).rejects.toMatchObject({
    ...{ code: 'X402_UNPAYABLE', reasons: [expect.stringMatching(why)] },
  })
})
