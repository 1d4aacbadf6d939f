import {
  CONTRACT_CODE,
  geoEscrowAbi,
  geoOpDomain,
  isCodeOf,
  planDeployment,
  type RuntimeCode,
} from '@geoswap/protocol'
import {
  type Address,
  concat,
  domainSeparator,
  type Hex,
  keccak256,
  numberToHex,
  type PublicClient,
  pad,
  stringToHex,
} from 'viem'
import { readAttesterSets } from './attesters.ts'

const ROLES = ['account', 'escrow', 'vault'] as const
type Contracts = Readonly<Record<(typeof ROLES)[number], Address>>

/** Lists contracts whose code is not that of this version. */
export async function verifyCode(client: PublicClient, contracts: Contracts): Promise<string[]> {
  const problems = await Promise.all(
    ROLES.map(async (role) => {
      const address = contracts[role]
      const code = await client.getCode({ address })
      if (!code) return [`there is no ${role} contract at ${address}`]
      return isCodeOf(code, CONTRACT_CODE[role])
        ? []
        : [`the code at ${address} is not the ${role} contract of this version`]
    }),
  )
  return problems.flat()
}

type Created = { chainId: number; contracts: Contracts }

/**
 * Lists contracts that this version did not create as they should be. The address of a contract is the hash of its
 * creation code and the constructor's arguments, whatever its functions answer. And the values that the constructor
 * wrote into the code are compared, for a node that shows other code there.
 */
export async function verifyCreation(client: PublicClient, created: Created): Promise<string[]> {
  const { contracts } = created
  const escrow = { address: contracts.escrow, abi: geoEscrowAbi } as const
  const [treasury, [first]] = await Promise.all([
    client.readContract({ ...escrow, functionName: 'TREASURY' }),
    readAttesterSets(client, { escrow: contracts.escrow, from: 0 }),
  ])
  if (!first) return ['the escrow has no attesters']
  const { members, threshold } = first
  const planned = planDeployment({ treasury, attesters: members as Address[], threshold }).contracts
  const elsewhere = ROLES.filter((role) => planned[role] !== contracts[role]).map(
    (role) => `the ${role} at ${contracts[role]} was not created by this version, which has ${planned[role]}`,
  )
  return [...elsewhere, ...(await findForeignValues(client, created, treasury))]
}

async function findForeignValues(client: PublicClient, created: Created, treasury: Address) {
  const expected = valuesOf(created, treasury)
  const problems = await Promise.all(
    ROLES.map(async (role) => {
      const address = created.contracts[role]
      const code = (await client.getCode({ address })) ?? '0x'
      const isRight = immutablesOf(code, CONTRACT_CODE[role]).every((word) => expected[role].includes(word))
      return isRight
        ? []
        : [`the ${role} at ${address} has a value in its code that is not of this deployment`]
    }),
  )
  return problems.flat()
}

/** The values that the constructors write into the code. */
function valuesOf({ chainId, contracts }: Created, treasury: Address): Record<keyof Contracts, Hex[]> {
  const { account, escrow, vault } = contracts
  const domain = geoOpDomain({ chainId, escrow })
  const word = (address: Address) => pad(address.toLowerCase() as Hex)
  const ofDomain = [
    numberToHex(chainId, { size: 32 }),
    keccak256(stringToHex(domain.name)),
    keccak256(stringToHex(domain.version)),
    domainSeparator({ domain }),
  ]
  const delegated = keccak256(concat(['0xef0100', account]))
  const opCode = keccak256(concat([OP_INIT_CODE.head, escrow, OP_INIT_CODE.tail]))
  const roles = [account, vault, treasury, escrow].map(word)
  return {
    account: [word(escrow)],
    vault: [word(treasury), word(escrow)],
    escrow: [...roles, delegated, opCode, ...ofDomain],
  }
}

/** The init code of an op's address is the escrow's address between these: OpAddressLib. */
const OP_INIT_CODE = { head: '0x60235f8160095f39f3365f5f375f5f365f73', tail: '0x8033145a02f4' } as const

function immutablesOf(code: Hex, { immutables }: RuntimeCode): Hex[] {
  return immutables.map((start) => `0x${code.slice(2 + start * 2, 66 + start * 2)}` as const)
}

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
