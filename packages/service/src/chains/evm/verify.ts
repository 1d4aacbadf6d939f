import { geoEscrowAbi } from '@geoswap/protocol'
import { type Address, erc20Abi, type PublicClient } from 'viem'

export function readDecimals(client: PublicClient, token: Address): Promise<number> {
  return client.readContract({ address: token, abi: erc20Abi, functionName: 'decimals' })
}

type Expected = {
  chainId: number
  name: string
  contracts: { account: Address; escrow: Address; vault: Address }
}

/** Every way in which the chain behind the nodes differs from the configuration. */
export async function verifyChain(
  client: PublicClient,
  { chainId, name, contracts }: Expected,
): Promise<string[]> {
  const problems: string[] = []
  const actual = await client.getChainId()
  if (actual !== chainId) return [`${name}: the node serves chain ${actual}, not ${chainId}`]
  for (const [role, address] of Object.entries(contracts)) {
    const code = await client.getCode({ address })
    if (!code || code === '0x') problems.push(`${name}: there is no ${role} contract at ${address}`)
  }
  if (problems.length > 0) return problems
  const escrow = { address: contracts.escrow, abi: geoEscrowAbi } as const
  const [account, vault] = await Promise.all([
    client.readContract({ ...escrow, functionName: 'ACCOUNT' }),
    client.readContract({ ...escrow, functionName: 'VAULT' }),
  ])
  if (account !== contracts.account) problems.push(`${name}: the escrow's account is ${account}`)
  if (vault !== contracts.vault) problems.push(`${name}: the escrow's vault is ${vault}`)
  return problems
}
