import { geoEscrowAbi, geoVaultAbi } from '@geoswap/protocol'
import { type Address, erc20Abi, type PublicClient } from 'viem'

export function readDecimals(client: PublicClient, token: Address): Promise<number> {
  return client.readContract({ address: token, abi: erc20Abi, functionName: 'decimals' })
}

type Expected = {
  chainId: number
  name: string
  contracts: { account: Address; escrow: Address; vault: Address }
  attester: Address
  deliverers: readonly Address[]
}

/** Every way in which the chain behind the nodes differs from the configuration. */
export async function verifyChain(client: PublicClient, expected: Expected): Promise<string[]> {
  const { chainId, name, contracts } = expected
  const problems: string[] = []
  const actual = await client.getChainId()
  if (actual !== chainId) return [`${name}: the node serves chain ${actual}, not ${chainId}`]
  for (const [role, address] of Object.entries(contracts)) {
    const code = await client.getCode({ address })
    if (!code || code === '0x') problems.push(`${name}: there is no ${role} contract at ${address}`)
  }
  if (problems.length > 0) return problems
  return [...(await verifyEscrow(client, expected)), ...(await verifyDeliverers(client, expected))]
}

async function verifyEscrow(
  client: PublicClient,
  { name, contracts, attester }: Expected,
): Promise<string[]> {
  const escrow = { address: contracts.escrow, abi: geoEscrowAbi } as const
  const actual = {
    account: await client.readContract({ ...escrow, functionName: 'ACCOUNT' }),
    vault: await client.readContract({ ...escrow, functionName: 'VAULT' }),
    attester: await client.readContract({ ...escrow, functionName: 'attester' }),
  }
  const configured = { account: contracts.account, vault: contracts.vault, attester }
  const roles = ['account', 'vault', 'attester'] as const
  const wrong = roles.filter((role) => actual[role] !== configured[role])
  return wrong.map((role) => `${name}: the escrow's ${role} is ${actual[role]}, not ${configured[role]}`)
}

async function verifyDeliverers(
  client: PublicClient,
  { name, contracts, deliverers }: Expected,
): Promise<string[]> {
  const vault = { address: contracts.vault, abi: geoVaultAbi, functionName: 'deliverers' } as const
  const known = await Promise.all(deliverers.map((key) => client.readContract({ ...vault, args: [key] })))
  const strangers = deliverers.filter((_, index) => !known[index])
  return strangers.map((key) => `${name}: the vault does not take deliveries from ${key}`)
}
