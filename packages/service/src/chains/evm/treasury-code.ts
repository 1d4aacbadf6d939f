import { type Address, type Hex, keccak256, type PublicClient } from 'viem'

/** A delegated key (EIP-7702) is still a key. */
export function isContract(code: Hex | undefined): boolean {
  return code !== undefined && code !== '0x' && !code.startsWith('0xef0100')
}

/** The hash of the code at an address; `none` for a key. */
export async function readCodeHash(client: PublicClient, address: Address): Promise<string> {
  const code = await client.getCode({ address })
  return code && isContract(code) ? keccak256(code) : 'none'
}

type Seen = { chain: { name: string }; code: string | undefined }

/**
 * Finds a treasury whose code differs between chains: where it has none, or another, the contracts would obey an
 * address that nobody, or somebody else, controls. `code` is undefined on a chain that did not answer.
 */
export function judgeTreasury(address: string, seen: readonly Seen[]): string | undefined {
  const namesOf = (isMeant: (code: string) => boolean) =>
    seen.filter(({ code }) => code !== undefined && isMeant(code)).map(({ chain }) => chain.name)
  const [contract, key] = [namesOf((code) => code !== 'none'), namesOf((code) => code === 'none')]
  if (contract.length === 0) return undefined
  if (key.length > 0) {
    const where = `a contract on ${contract.join(', ')} and has no code on ${key.join(', ')}`
    return `The treasury ${address} is ${where}: create it there at the same address first`
  }
  const codes = new Set(seen.flatMap(({ code }) => code ?? []))
  if (codes.size === 1) return undefined
  return `The treasury ${address} has other code on some of ${contract.join(', ')}: check who controls it on each`
}
