import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Abi,
  type Address,
  concat,
  decodeFunctionResult,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  numberToHex,
  type PrivateKeyAccount,
} from 'viem'
import { createWallet, createWorld, delegate, mint, type World, withRevert } from '../test/world.ts'
import * as evm from './chain.ts'
import { initialDate, keyOf } from './gas-scene.ts'

type Artifact = { abi: Abi; bytecode: Hex }
type Peer = { world: World; entryPoint: Address; abi: Abi; wallets: PrivateKeyAccount[] }

/** The address of EntryPoint v0.8 in Simple7702Account; replaced by the local one, which costs the same. */
const canonicalEntryPoint = '4337084d9e255ff0702461cf8895ce9e3b5ff108'
const require = createRequire(import.meta.url)

/**
 * ERC-4337 v0.8 from the bytecode of its npm package: gas per op of a plain token transfer into an escrow
 * address, with the wallet's own deposit. No record, no refund and no paymaster: its minimum cost.
 */
export async function measure4337(): Promise<{ name: string; gas: number }[]> {
  const peer = await createPeer()
  const rows: { name: string; gas: number }[] = []
  for (const size of [1, 5, 20]) {
    const gas = await withRevert(peer.world, () => handleOps(peer, size))
    rows.push({ name: `ERC-4337 v0.8, bare transfer, ${size} per transaction`, gas: Number(gas) })
  }
  return rows
}

function readArtifact(name: string): Artifact {
  return JSON.parse(
    readFileSync(require.resolve(`@account-abstraction/contracts/artifacts/${name}.json`), 'utf8'),
  )
}

async function createPeer(): Promise<Peer> {
  const world = await createWorld({ initialDate })
  const { abi, bytecode } = readArtifact('EntryPoint')
  const entryPoint = await evm.deploy(world.chain, { abi, bytecode })
  const account = readArtifact('Simple7702Account')
  const code = account.bytecode
    .toLowerCase()
    .replaceAll(canonicalEntryPoint, entryPoint.slice(2).toLowerCase())
  const implementation = await evm.deploy(world.chain, { abi: account.abi, bytecode: `0x${code.slice(2)}` })
  const wallets: PrivateKeyAccount[] = []
  for (let i = 0; i < 20; i++) {
    const wallet = await createWallet(world, world.token, 10n ** 10n, keyOf(`wallet ${i}`))
    await delegate(world, wallet, implementation)
    const data = encodeFunctionData({ abi, functionName: 'depositTo', args: [wallet.address] })
    await evm.send(world.chain, { from: world.stranger, to: entryPoint, data, value: 10n ** 18n })
    wallets.push(wallet)
  }
  await mint(world, { token: world.token, to: world.escrow, amount: 1n })
  const peer = { world, entryPoint, abi, wallets }
  await handleOps(peer, 20)
  return peer
}

async function handleOps({ world, entryPoint, abi, wallets }: Peer, size: number): Promise<bigint> {
  const ops: unknown[] = []
  for (const wallet of wallets.slice(0, size)) {
    const nonceOf = { abi, functionName: 'getNonce', args: [wallet.address, 0n] }
    const nonce = await readPeer(world, entryPoint, nonceOf)
    const op = createUserOp(world, wallet.address, nonce)
    const hash = (await readPeer(world, entryPoint, {
      abi,
      functionName: 'getUserOpHash',
      args: [op],
    })) as Hex
    ops.push({ ...op, signature: await wallet.sign({ hash }) })
  }
  const data = encodeFunctionData({ abi, functionName: 'handleOps', args: [ops, world.locker] })
  return (await evm.send(world.chain, { from: world.locker, to: entryPoint, data })).gasUsed / BigInt(size)
}

function createUserOp(world: World, sender: Address, nonce: unknown) {
  const transfer = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [world.escrow, 1_234_567_890n],
  })
  const { abi } = readArtifact('Simple7702Account')
  const callData = encodeFunctionData({ abi, functionName: 'execute', args: [world.token, 0n, transfer] })
  const pair = (high: bigint, low: bigint) =>
    concat([numberToHex(high, { size: 16 }), numberToHex(low, { size: 16 })])
  return {
    sender,
    nonce,
    initCode: '0x',
    callData,
    accountGasLimits: pair(100_000n, 100_000n),
    preVerificationGas: 50_000n,
    gasFees: pair(10n ** 9n, 10n ** 9n),
    paymasterAndData: '0x',
    signature: '0x',
  }
}

type Question = { abi: Abi; functionName: string; args: unknown[] }

async function readPeer(world: World, to: Address, question: Question): Promise<unknown> {
  const data = await evm.read(world.chain, { to, data: encodeFunctionData(question) })
  return decodeFunctionResult({ ...question, data })
}
