import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Abi, type Address, encodeFunctionData, erc20Abi, type Hex, pad } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createWorld, mint, type World, withRevert } from '../test/world.ts'
import * as evm from './chain.ts'
import { initialDate, keyOf } from './gas-scene.ts'

type Artifact = { abi: Abi; bytecode: Hex }
type Peer = { world: World; pool: Address; abi: Abi; coin: Address }

const require = createRequire(import.meta.url)
const amount = 1_234_567_890n
const deadline = Date.parse(initialDate) / 1_000 + 9_000

/** Across's SpokePool behind its proxy, from the bytecode of its npm package: gas per fill and per deposit. */
export async function measureAcross(): Promise<{ name: string; gas: number }[]> {
  const peer = await createPeer()
  const { world, coin } = peer
  const measured: [string, () => Promise<bigint>][] = [
    ['Across deposit, one per transaction, after an approval', () => deposit(peer)],
    ['Across fillRelay, one per transaction', () => fill(peer, 100, world.token)],
    ['Across fillRelay, 20 per transaction', () => fillMany(peer, 20)],
    ['Across native fillRelay, one per transaction', () => fill(peer, 100, coin, world.secondLocker)],
  ]
  const rows: { name: string; gas: number }[] = []
  for (const [name, measure] of measured) rows.push({ name, gas: Number(await withRevert(world, measure)) })
  return rows
}

function readArtifact(name: string): Artifact {
  const path = `@across-protocol/contracts/dist/evm/artifacts/${name}.sol/${name}.json`
  return JSON.parse(readFileSync(require.resolve(path), 'utf8'))
}

async function createPeer(): Promise<Peer> {
  const world = await createWorld({ initialDate })
  const coin = await evm.deploy(world.chain, readArtifact('WETH9'))
  const spoke = readArtifact('Ethereum_SpokePool')
  const args = [coin, 3_600, 21_600, world.treasury]
  const implementation = await evm.deploy(world.chain, spoke, args)
  const data = encodeFunctionData({ abi: spoke.abi, functionName: 'initialize', args: [0, world.treasury] })
  const pool = await evm.deploy(world.chain, readArtifact('ERC1967Proxy'), [implementation, data])
  const peer = { world, pool, abi: spoke.abi, coin }
  await mint(world, { token: world.token, to: world.deliverer, amount: 10n ** 15n })
  await evm.send(world.chain, { from: world.deliverer, to: coin, value: 10n ** 18n })
  for (const token of [world.token, coin]) {
    const approval = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [pool, 2n ** 255n] })
    await evm.send(world.chain, { from: world.deliverer, to: token, data: approval })
  }
  await mint(world, { token: world.token, to: pool, amount: 1n })
  await fillMany(peer, 20, 500)
  await fill(peer, 600, coin, world.secondLocker)
  return peer
}

const recipientOf = (position: number): Address => privateKeyToAccount(keyOf(`recipient ${position}`)).address

function encodeFill({ world, abi }: Peer, depositId: number, token: Address, recipient: Address): Hex {
  const relay = {
    depositor: pad(world.stranger),
    recipient: pad(recipient),
    exclusiveRelayer: pad('0x'),
    inputToken: pad(world.token),
    outputToken: pad(token),
    inputAmount: amount,
    outputAmount: amount - 617_767n,
    originChainId: 10n,
    depositId: BigInt(depositId),
    fillDeadline: deadline,
    exclusivityDeadline: 0,
    message: '0x',
  }
  return encodeFunctionData({ abi, functionName: 'fillRelay', args: [relay, 10n, pad(world.deliverer)] })
}

async function fill(
  peer: Peer,
  depositId: number,
  token: Address,
  recipient = recipientOf(0),
): Promise<bigint> {
  const data = encodeFill(peer, depositId, token, recipient)
  return (await evm.send(peer.world.chain, { from: peer.world.deliverer, to: peer.pool, data })).gasUsed
}

async function fillMany(peer: Peer, size: number, from = 100): Promise<bigint> {
  const { world, abi, pool } = peer
  const calls = Array.from({ length: size }, (_, i) =>
    encodeFill(peer, from + i, world.token, recipientOf(i)),
  )
  const data = encodeFunctionData({ abi, functionName: 'multicall', args: [calls] })
  return (await evm.send(world.chain, { from: world.deliverer, to: pool, data })).gasUsed / BigInt(size)
}

async function deposit({ world, abi, pool }: Peer): Promise<bigint> {
  const now = Number(await evm.readTime(world.chain))
  const [depositor, token, nobody] = [pad(world.deliverer), pad(world.token), pad('0x')]
  const terms = [token, token, amount, amount - 617_767n, 10n, nobody, now, now + 7_200, 0, '0x']
  const data = encodeFunctionData({ abi, functionName: 'deposit', args: [depositor, depositor, ...terms] })
  return (await evm.send(world.chain, { from: world.deliverer, to: pool, data })).gasUsed
}
