import type { AddressInfo } from 'node:net'
import { startWorld, type World } from '@geoswap/solana-rpc/test/world'
import { type Address, generateKeyPairSigner, isSignature, address as toAddress } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFaucetServer } from '../src/faucet/faucet-server.ts'
import { createSolanaFaucet } from '../src/faucet/solana-faucet.ts'
import { createKeys, deploySolana, SOLANA_CHAIN } from '../src/index.ts'

const { chainId } = SOLANA_CHAIN
const keys = createKeys().solana
const NATIVE_SOL = toAddress('11111111111111111111111111111111')
const WALLET = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'
let world: World
let faucet: Awaited<ReturnType<typeof startFaucet>>

beforeAll(async () => {
  world = await startWorld({ slotMs: 50 })
  faucet = await startFaucet()
})

afterAll(async () => {
  faucet?.stop()
  await world?.chain.stop()
})

/** The faucet of a chain with everything deployed. */
async function startFaucet() {
  const { rpcUrl } = world.chain
  const deployed = await deploySolana({ ...SOLANA_CHAIN, rpcUrl, keys })
  const tokens = [{ symbol: 'SOL', address: NATIVE_SOL }, ...deployed.tokens]
  const chain = await createSolanaFaucet({ chainId, rpcUrl, seed: keys.faucet.seed, tokens })
  const server = createFaucetServer([chain])
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function ask(gift: object): Promise<{ status: number; body: Record<string, string> }> {
  const body = JSON.stringify({ chainId, ...gift })
  const response = await fetch(faucet.url, { method: 'POST', body })
  return { status: response.status, body: (await response.json()) as Record<string, string> }
}

async function newWallet(): Promise<Address> {
  return (await generateKeyPairSigner()).address
}

function tokenOf(symbol: string): Address {
  const token = faucet.tokens.find((each) => each.symbol === symbol)
  if (!token) throw new Error(`No token ${symbol}`)
  return token.address
}

async function balanceOf(owner: Address, symbol: string): Promise<bigint> {
  const mint = tokenOf(symbol)
  const commitment = 'confirmed'
  if (mint === NATIVE_SOL) return (await world.rpc.getBalance(owner, { commitment }).send()).value
  const options = { commitment, encoding: 'jsonParsed' } as const
  const { value } = await world.rpc.getTokenAccountsByOwner(owner, { mint }, options).send()
  return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n)
}

test.each(['SOL', 'USDC', 'GEO', 'USDG'])('%s is in a new wallet when the faucet answers', async (symbol) => {
  const address = await newWallet()

  const { status, body } = await ask({ address, token: tokenOf(symbol), amount: '1500000' })

  expect([status, await balanceOf(address, symbol)]).toEqual([200, 1_500_000n])
  expect(isSignature(body.txHash ?? '')).toBe(true)
})

test('a wallet that received tokens has no SOL', async () => {
  const address = await newWallet()

  await Promise.all(['USDC', 'USDG'].map((token) => ask({ address, token, amount: '5' })))
  const balances = ['USDC', 'USDG', 'SOL'].map((symbol) => balanceOf(address, symbol))

  expect(await Promise.all(balances)).toEqual([5n, 5n, 0n])
})

test('the same gift requested twice at once is given twice', async () => {
  const gift = { address: await newWallet(), token: 'GEO', amount: '1000' }

  const [one, other] = await Promise.all([ask(gift), ask(gift)])

  expect([one.status, other.status]).toEqual([200, 200])
  expect(one.body.txHash).not.toBe(other.body.txHash)
  expect(await balanceOf(gift.address, 'GEO')).toBe(2_000n)
})

test('the faucet serves fifty requests at once', async () => {
  const wallets = await Promise.all(Array.from({ length: 50 }, newWallet))

  const answers = await Promise.all(
    wallets.map((address) => ask({ address, token: 'USDC', amount: '1000000' })),
  )
  const balances = await Promise.all(wallets.map((wallet) => balanceOf(wallet, 'USDC')))

  expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
  expect(balances).toEqual(Array(50).fill(1_000_000n))
})

test('a gift whose transaction was lost still arrives, once', async () => {
  const address = await newWallet()
  await world.dev.dev_dropTransactions(2).send()

  const { status } = await ask({ address, token: 'USDG', amount: '9' })

  expect([status, await balanceOf(address, 'USDG')]).toEqual([200, 9n])
})

test.each([
  ['an EVM address', { address: `0x${'1'.repeat(40)}` }, 'base58'],
  ['31 bytes', { address: '1'.repeat(31) }, '32 bytes'],
  ['a letter that base58 does not have', { address: WALLET.replace('N', '0') }, 'base58'],
  ['the system program', { address: NATIVE_SOL }, 'system program'],
  ['no address', {}, 'address must be a string'],
  ['an unknown token', { address: WALLET, token: 'WETH' }, 'USDG'],
  ['a symbol in other letters', { address: WALLET, token: 'usdc' }, 'USDC'],
  ['nothing', { address: WALLET, token: 'USDC', amount: '0' }, 'positive'],
  [
    "an amount close to a token's maximum supply",
    { address: WALLET, token: 'USDC', amount: `${2n ** 64n}` },
    'at most',
  ],
])('400 INVALID_REQUEST names the problem when the faucet receives %s', async (_, gift, hint) => {
  const answer = await ask(gift)

  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({ code: 'INVALID_REQUEST', message: expect.stringContaining(hint) })
})

test('422 RECIPIENT_REFUSES if the SOL is too little to open an account', async () => {
  const address = await newWallet()

  const less = await ask({ address, token: 'SOL', amount: '890879' })
  const enough = await ask({ address, token: 'SOL', amount: '890880' })

  expect([less.status, enough.status]).toEqual([422, 200])
  expect(less.body).toMatchObject({ code: 'RECIPIENT_REFUSES', message: expect.stringContaining('rent') })
})

test('the inventory holds a million dollars of everything, fee payers no token', async () => {
  const everything = ['SOL', 'USDC', 'GEO', 'USDG']
  const holdings = ({ address }: { address: Address }) =>
    Promise.all(everything.map((symbol) => balanceOf(address, symbol)))
  const SOL = 10n ** 9n

  expect(await holdings(keys.inventory)).toEqual([10_000n * SOL, 10n ** 13n, 2n * 10n ** 16n, 10n ** 13n])
  expect(await holdings(keys.feePayers.input)).toEqual([1_000n * SOL, 0n, 0n, 0n])
  expect(await holdings(keys.feePayers.delivery)).toEqual([1_000n * SOL, 0n, 0n, 0n])
})

test('the inventory has its token accounts from the start, finalized', async () => {
  const at = { encoding: 'base64', commitment: 'finalized' } as const
  const counts = [keys.inventory, keys.feePayers.input, keys.feePayers.delivery].map(
    async ({ address: owner }) => {
      const programs = SOLANA_CHAIN.tokens.map(({ program }) => program)
      const found = await Promise.all(
        [...new Set(programs)].map((programId) =>
          world.rpc.getTokenAccountsByOwner(owner, { programId }, at).send(),
        ),
      )
      return found.map(({ value }) => value.length)
    },
  )

  expect(await Promise.all(counts)).toEqual([
    [2, 1],
    [0, 0],
    [0, 0],
  ])
})
