import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { findMarker, type OpId } from '@geoswap/solana-escrow'
import { escrowProgram } from '@geoswap/solana-escrow/program'
import { type Address, generateKeyPairSigner } from '@solana/kit'
import { getFreezeAccountInstruction } from '@solana-program/token'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { SOL, type SolanaWorld, startSolanaWorld } from '../../../test/support/solana.ts'
import { readTransactionAmount } from '../../../test/support/solana-amount.ts'
import { NATIVE_TOKEN, readAccounts } from './accounts.ts'
import { toBase64 } from './bytes.ts'
import { createSolanaClient, isEveryNodeBehind } from './client.ts'
import { readPriorityPrice } from './facts.ts'
import { readBlockHeight, readBlockhash, readHeads } from './heads.ts'
import { readSignatures } from './reads.ts'
import { broadcast } from './send.ts'
import { isExpiredByMajority } from './signing.ts'
import { verifySolana } from './verify.ts'

let world: SolanaWorld
const servers: Server[] = []
beforeAll(async () => {
  world = await startSolanaWorld()
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})
afterAll(() => world.chain.stop())

/** A test node that answers every call the same way. */
async function startNode(answer: (body: { id: unknown; method: string }) => object | undefined) {
  const calls: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (part) => {
      text += part
    })
    request.on('end', () => {
      const body = JSON.parse(text)
      calls.push(body.method)
      const reply = answer(body)
      response.statusCode = reply ? 200 : 503
      response.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, ...reply }))
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls }
}

async function newPayment(op: string) {
  const to = (await generateKeyPairSigner()).address
  const signed = await world.pay({ to, token: NATIVE_TOKEN, amount: SOL, op })
  const { program, vault } = world.escrow
  const [marker] = await findMarker(program, { vault, opId: signed.deliveryHash as OpId })
  return { to, marker, ...signed }
}

test("heads are in order, have the chain's time, and are unchanged while nothing is new", async () => {
  await world.advance(40)
  const heads = await readHeads(world.client)

  expect(await readHeads(world.client, heads)).toBe(heads)
  expect(heads.confirmed.slot - heads.finalized.slot).toBe(31n)
  for (const head of Object.values(heads))
    expect(Math.abs(head.seconds - Date.now() / 1_000)).toBeLessThan(60)

  await world.advance(1)
  const next = await readHeads(world.client, heads)
  expect(next.confirmed.slot).toBe(heads.confirmed.slot + 1n)
  expect(next.finalized).toBe(heads.finalized)
})

test('the final block is read again once some more blocks are final', async () => {
  await world.advance(40)
  const heads = await readHeads(world.client)

  await world.advance(9)
  const next = await readHeads(world.client, heads)

  expect(next.finalized.height).toBe(heads.finalized.height + 9n)
})

test('an idle chain is asked for both times with every second final block, and else at once', async () => {
  const calls: string[] = []
  const watch = { called: (method: string) => calls.push(method), answered() {}, failed() {} }
  const client = createSolanaClient({ urls: [world.chain.rpcUrl], watches: [watch] })
  let heads = await readHeads(client)
  const timesAfter = async (slots: number, isIdle: boolean) => {
    await world.advance(slots)
    calls.length = 0
    heads = await readHeads(client, heads, isIdle)
    return calls.filter((method) => method === 'getBlockTime').length
  }

  expect([await timesAfter(9, true), await timesAfter(9, true)]).toEqual([0, 2])
  const { confirmed, finalized } = heads
  expect([await timesAfter(9, true), heads.confirmed.seconds]).toEqual([0, confirmed.seconds])
  expect(heads.finalized).toEqual({ ...finalized, slot: finalized.slot + 9n, height: finalized.height + 9n })
  expect(await timesAfter(1, false)).toBe(2)
  expect(heads.finalized.timedSlot).toBe(heads.finalized.slot)
})

test('the times of an idle chain move on while it does not become final', async () => {
  const heads = await readHeads(world.client)
  const { slot, height } = heads.finalized
  const stalled = { ...heads.finalized, slot: slot + 100n, height: height + 100n, timedSlot: slot + 100n }
  await world.advance(120)

  const next = await readHeads(world.client, { ...heads, finalized: stalled }, true)

  expect(next.confirmed.timedSlot).toBe(next.confirmed.slot)
})

test('a lagging node does not move the heads back', async () => {
  const heads = await readHeads(world.client)
  const { slot, height } = heads.finalized
  const ahead = { slot: slot + 5n, height: height + 5n, seconds: 1 }
  await world.advance(1)

  const next = await readHeads(world.client, { ...heads, finalized: ahead })

  expect(next.finalized).toBe(ahead)
  expect(next.confirmed.slot).toBe(heads.confirmed.slot + 1n)
})

test('a head and its blockhash are one call', async () => {
  const calls: string[] = []
  const watch = { called: (method: string) => calls.push(method), answered() {}, failed() {} }
  const client = createSolanaClient({ urls: [world.chain.rpcUrl], watches: [watch] })
  const heads = await readHeads(client.agreed)
  await world.advance(1)
  calls.length = 0

  const { confirmed } = await readHeads(client.agreed, heads)

  expect(calls).toEqual(['getLatestBlockhash'])
  const { blockHeight } = await world.client.rpc.getEpochInfo({ commitment: 'confirmed' }).send()
  expect(confirmed.height).toBe(blockHeight)
  expect(confirmed.lifetime).toEqual(await readBlockhash(world.client))
})

test('a blockhash lives for 150 blocks from its own', async () => {
  const [{ lastValidBlockHeight }, { confirmed }] = await Promise.all([
    readBlockhash(world.client),
    readHeads(world.client),
  ])

  expect(lastValidBlockHeight - confirmed.height).toBe(150n)
})

/** The true node twice, and one with the true slot and blockhash that lies about every height. */
async function besideLiar(lie: (height: bigint) => number) {
  const { rpc } = world.client
  const epoch = await rpc.getEpochInfo({ commitment: 'confirmed' }).send()
  const { value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  const slot = Number(epoch.absoluteSlot)
  const lies: Record<string, object> = {
    getEpochInfo: { absoluteSlot: slot, blockHeight: lie(epoch.blockHeight) },
    getLatestBlockhash: {
      context: { slot },
      value: { ...value, lastValidBlockHeight: lie(value.lastValidBlockHeight) },
    },
  }
  const liar = await startNode(({ method }) => ({ result: lies[method] }))
  return createSolanaClient({ urls: [liar.url, world.chain.rpcUrl, world.chain.rpcUrl] })
}

test('a node with the true slot and a wrong height is not believed, in any order of answers', async () => {
  const truth = await world.client.rpc.getEpochInfo({ commitment: 'confirmed' }).send()
  for (const lie of [1_000, -1_000]) {
    const { agreed } = await besideLiar((height) => Number(height) + lie)
    const said = await agreed.rpc.getEpochInfo({ commitment: 'confirmed' }).send()
    expect(said).toMatchObject({ absoluteSlot: truth.absoluteSlot, blockHeight: truth.blockHeight })
  }
})

test('one node can neither shorten nor extend the life of its blockhash', async () => {
  const { blockHeight } = await world.client.rpc.getEpochInfo({ commitment: 'confirmed' }).send()
  for (const lie of [1_000, -1_000]) {
    const client = await besideLiar((height) => Number(height) + lie)
    const { lastValidBlockHeight } = await readBlockhash(client)
    expect(lastValidBlockHeight).toBeGreaterThanOrEqual(blockHeight + 150n)
    expect(lastValidBlockHeight).toBeLessThan(blockHeight + 200n)
    const { confirmed } = await readHeads(client.agreed)
    expect(confirmed.height).toBe(blockHeight)
    expect(confirmed.lifetime?.lastValidBlockHeight).toBe(lastValidBlockHeight)
  }
})

test('silent and lagging nodes are skipped', async () => {
  const dead = await startNode(() => undefined)
  const behind = await startNode(() => ({ error: { code: -32016, message: 'Minimum context slot' } }))
  const client = createSolanaClient({ urls: [dead.url, behind.url, world.chain.rpcUrl] })

  await readBlockHeight(client)
  await readBlockHeight(client)

  // The node that answered is asked first from then on.
  expect(dead.calls.length).toBe(1)
  expect(behind.calls.length).toBe(1)
})

test('a read that fails because every node is behind is told apart from one that no node answers', async () => {
  const dead = await startNode(() => undefined)
  const behind = await startNode(() => ({ error: { code: -32016, message: 'Minimum context slot' } }))
  const fail = (url: string) => readBlockHeight(createSolanaClient({ urls: [url] })).catch((error) => error)

  expect(isEveryNodeBehind(await fail(behind.url))).toBe(true)
  expect(isEveryNodeBehind(await fail(dead.url))).toBe(false)
})

test('no node is asked during a database transaction', async () => {
  const assertOutsideTransaction = () => {
    throw new Error('inside a transaction')
  }
  const client = createSolanaClient({ urls: [world.chain.rpcUrl], assertOutsideTransaction })

  await expect(readBlockhash(client)).rejects.toThrow('inside a transaction')
  await expect(broadcast(client, 'AA==')).rejects.toThrow()
})

test('every node receives the bytes, and one that accepts them is enough', async () => {
  const dead = await startNode(() => undefined)
  const { raw, txHash } = await newPayment('01'.repeat(32))

  await broadcast(createSolanaClient({ urls: [dead.url, world.chain.rpcUrl] }), raw)
  await vi.waitFor(() => expect(dead.calls).toEqual(['sendTransaction']))
  expect((await readSignatures(world.client, [txHash])).get(txHash)?.failed).toBe(false)
  await expect(broadcast(createSolanaClient({ urls: [dead.url] }), raw)).rejects.toThrow()
})

test('a marker exists or is absent only if most nodes agree', async () => {
  const { raw, marker } = await newPayment('02'.repeat(32))
  await world.land(raw)
  const context = { slot: 1, apiVersion: '1' }
  const liar = await startNode(() => ({ result: { context, value: [null] } }))
  const query = { addresses: [marker], commitment: 'confirmed' } as const
  const isThere = async (...urls: string[]) => {
    const [account] = await readAccounts(createSolanaClient({ urls }).agreed, query)
    return account !== undefined
  }
  const { rpcUrl } = world.chain

  expect(await isThere(rpcUrl)).toBe(true)
  expect(await isThere(liar.url, rpcUrl, rpcUrl)).toBe(true)
  expect(await isThere(liar.url, liar.url, rpcUrl)).toBe(false)
  await expect(isThere(liar.url, rpcUrl)).rejects.toThrow('1 of 2 nodes')
  const dead = await startNode(() => undefined)
  await expect(isThere(dead.url, rpcUrl)).rejects.toThrow()
})

test('a signed transaction is expired only once two nodes have finalized a block past its life', async () => {
  const lifetime = await readBlockhash(world.client)
  const ahead = await startNode(() => ({ result: { absoluteSlot: 1e9, blockHeight: 1e9 } }))
  const both = createSolanaClient({ urls: [ahead.url, world.chain.rpcUrl] })
  const isExpired = () => isExpiredByMajority(both, lifetime.lastValidBlockHeight)

  await world.advance(151)
  expect(await isExpired()).toBe(false)
  await world.advance(32)
  const { finalized } = await readHeads(world.client)

  expect(finalized.height).toBeGreaterThan(lifetime.lastValidBlockHeight)
  expect(await isExpired()).toBe(true)
})

test('the priority price stays within its bounds', async () => {
  const accounts = [world.authority.address]
  const busy = await startNode(() => ({
    result: [1, 2, 3, 4].map((slot) => ({ slot, prioritizationFee: slot * 100 })),
  }))
  const client = createSolanaClient({ urls: [busy.url] })

  expect(await readPriorityPrice(world.client, { accounts, floor: 7n, cap: 9n })).toBe(7n)
  expect(await readPriorityPrice(client, { accounts, floor: 7n, cap: 9n })).toBe(9n)
  expect(await readPriorityPrice(client, { accounts, floor: 7n, cap: 900n })).toBe(400n)
})

test('a marker is read at its commitment, and not from a node that has not reached the slot', async () => {
  const { raw, marker } = await newPayment('03'.repeat(32))
  await world.land(raw)
  const { finalized, confirmed } = await readHeads(world.client)
  const at = async (commitment: 'confirmed' | 'finalized', minContextSlot?: bigint) => {
    const query = { addresses: [marker], commitment, ...(minContextSlot && { minContextSlot }) }
    const [account] = await readAccounts(world.client, query)
    return account !== undefined
  }

  expect(await at('confirmed')).toBe(true)
  expect(await at('finalized', finalized.slot)).toBe(false)
  await expect(at('finalized', confirmed.slot)).rejects.toThrow()
  await world.advance(32)
  expect(await at('finalized', confirmed.slot)).toBe(true)
})

test('a status grows from processed to finalized, and an unknown signature has none', async () => {
  const { raw, txHash, to } = await newPayment('04'.repeat(32))
  const unknown = (await newPayment('05'.repeat(32))).txHash
  const read = async () => readSignatures(world.client, [unknown, txHash])
  const amount = { txHash, account: to, token: NATIVE_TOKEN }
  await broadcast(world.client, raw)

  expect((await read()).get(txHash)).toMatchObject({ failed: false, commitment: 'processed' })
  expect(await readTransactionAmount(world.client, amount)).toBeUndefined()
  await world.advance(1)
  expect((await read()).get(txHash)?.commitment).toBe('confirmed')
  expect((await readTransactionAmount(world.client, amount))?.amount).toBe(SOL)
  expect(await readTransactionAmount(world.client, { ...amount, commitment: 'finalized' })).toBeUndefined()
  await world.advance(200)
  const statuses = await read()
  expect(statuses.get(txHash)?.commitment).toBe('finalized')
  expect(statuses.has(unknown)).toBe(false)
})

test('only genesis and roles refuse a chain at boot; the rest closes a token', async () => {
  const usdc = await world.createMint()
  const { vault } = world.escrow
  const feePayers = [world.feePayer.address, (await world.fundedSigner()).address]
  const expected = { name: 'solana', ...world.escrow, feePayers, mints: [usdc, NATIVE_TOKEN] }
  const right = { problems: [], warnings: [], closed: [] }
  const closed = (why: string, token: string = usdc.mint) => ({ ...right, closed: [{ token, why }] })
  const find = (change: object = {}) => verifySolana(world.client, { ...expected, ...change })

  expect((await find({ genesisHash: 'other' })).problems).toHaveLength(1)
  const why = `the vault has no token account of ${usdc.mint}: run service deploy`
  expect(await find()).toEqual({ ...right, closed: [{ token: usdc.mint, why, isUndeployed: true }] })
  const account = await world.give(usdc, vault, 0n)
  expect(await find()).toEqual(right)
  const payer = (await generateKeyPairSigner()).address
  expect((await find({ feePayers: [payer] })).warnings).toEqual([
    `solana: the fee payer ${payer} has no SOL: run service fund apply`,
  ])
  expect((await find({ feePayers: [vault] })).problems).toEqual([
    'solana: vault, attester and fee payers must differ',
  ])
  expect(await find({ mints: [{ mint: vault, decimals: 6 }] })).toEqual(closed(`no mint at ${vault}`, vault))
  expect(await find({ mints: [{ mint: usdc.mint, decimals: 7 }] })).toEqual(
    closed(`mint ${usdc.mint} has 6 decimals, not 7`),
  )
  const freezing = { account, mint: usdc.mint as Address, owner: usdc.authority }
  await world.run(world.payer, [getFreezeAccountInstruction(freezing)])
  expect(await find()).toEqual(closed(`the vault's account of ${usdc.mint} is frozen`))
})

test('a token account that a stranger opens for a fee payer refuses no start and closes no token', async () => {
  const usdc = await world.createMint()
  const feePayers = [world.feePayer.address]
  const expected = { name: 'solana', ...world.escrow, feePayers, mints: [usdc] }
  await world.give(usdc, world.escrow.vault, 0n)
  await world.give(usdc, world.feePayer.address, 1n)

  expect(await verifySolana(world.client, expected)).toEqual({
    ...{ problems: [], closed: [] },
    warnings: [`solana: a fee payer owns a token account of ${usdc.mint}`],
  })
})

test('at boot a program that is missing, or that differs in one byte, is refused', async () => {
  const feePayers = [world.feePayer.address, (await world.fundedSigner()).address]
  const expected = { name: 'solana', ...world.escrow, feePayers, mints: [] }
  const other = (await generateKeyPairSigner()).address
  const changed = escrowProgram.with(escrowProgram.length - 1, 1)

  expect((await verifySolana(world.client, { ...expected, program: other })).problems).toEqual([
    `solana: there is no escrow program at ${other}: run service deploy`,
  ])
  await world.dev.dev_addProgram(other, [toBase64(changed), 'base64']).send()
  await world.advance(1)
  expect((await verifySolana(world.client, { ...expected, program: other })).problems).toEqual([
    `solana: the program at ${other} is not the escrow: its bytes differ`,
  ])
})
