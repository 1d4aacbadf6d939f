import {
  type Abi,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
} from 'viem'
import { geoEscrowAbi } from '../../protocol/src/abi/geo-escrow.gen.ts'
import { geoVaultAbi } from '../../protocol/src/abi/geo-vault.gen.ts'
import * as evm from '../scripts/chain.ts'
import type { World } from './world.ts'

type Written<abi extends Abi> = ContractFunctionName<abi, 'nonpayable'>
type Read<abi extends Abi> = ContractFunctionName<abi, 'view'>
type WriteArgs<abi extends Abi, name extends Written<abi>> = ContractFunctionArgs<abi, 'nonpayable', name>
type ReadArgs<abi extends Abi, name extends Read<abi>> = ContractFunctionArgs<abi, 'view', name>
type Escrow = typeof geoEscrowAbi
type Vault = typeof geoVaultAbi

/** Sends a call to the escrow. */
export function callEscrow<name extends Written<Escrow>>(
  world: World,
  from: Address,
  functionName: name,
  args: WriteArgs<Escrow, name>,
  options: { gas?: bigint } = {},
) {
  const data = encode(geoEscrowAbi, functionName, args)
  return evm.send(world.chain, { from, to: world.escrow, data, ...options })
}

/** Sends a call to the vault. */
export function callVault<name extends Written<Vault>>(
  world: World,
  from: Address,
  functionName: name,
  args: WriteArgs<Vault, name>,
  options: { gas?: bigint } = {},
) {
  const data = encode(geoVaultAbi, functionName, args)
  return evm.send(world.chain, { from, to: world.vault, data, ...options })
}

/** Reads from the escrow. */
export function readEscrow<name extends Read<Escrow>>(
  world: World,
  functionName: name,
  args: ReadArgs<Escrow, name>,
): Promise<ContractFunctionReturnType<Escrow, 'view', name>> {
  return ask(world, { abi: geoEscrowAbi, to: world.escrow, functionName, args })
}

/** Reads from the vault. */
export function readVault<name extends Read<Vault>>(
  world: World,
  functionName: name,
  args: ReadArgs<Vault, name>,
): Promise<ContractFunctionReturnType<Vault, 'view', name>> {
  return ask(world, { abi: geoVaultAbi, to: world.vault, functionName, args })
}

type Question = { abi: Abi; to: Address; functionName: string; args: unknown }

/** The caller states the result type; the ABI ensures it. */
export async function ask<T>(world: World, { abi, to, functionName, args }: Question): Promise<T> {
  const data = await evm.read(world.chain, { to, data: encode(abi, functionName, args) })
  return decodeFunctionResult({ abi, functionName, data }) as T
}

export function encode(abi: Abi, functionName: string, args: unknown) {
  return encodeFunctionData({ abi, functionName, args: args as readonly unknown[] })
}
