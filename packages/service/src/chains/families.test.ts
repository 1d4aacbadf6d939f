import Type, { type Static } from 'typebox'
import { expect, test } from 'vitest'
import { address, anyChain, type Finished, nativeOf, strict, TOKENS, tokenOf } from '../config/fields.ts'
import type { Chain } from './chain.ts'
import { families } from './families.ts'
import type { Family } from './family.ts'

const schema = Type.Object(
  {
    ...anyChain,
    family: Type.Literal('paper'),
    native: nativeOf({}),
    tokens: Type.Array(tokenOf(address('A sheet.'), {}), TOKENS),
    vault: address('Holds inputs and inventory.'),
  },
  strict,
)
type PaperConfig = Static<typeof schema> & Finished

const onPaper = (): never => {
  throw new Error('This chain is on paper only')
}

const chainOf = ({ chainId }: PaperConfig): Chain => ({
  chainId,
  maxBatch: 1,
  hasNonces: false,
  readHeads: onPaper,
  findEvents: onPaper,
  readLegCosts: onPaper,
  readCoins: onPaper,
  planTransfer: onPaper,
  findTransaction: onPaper,
  readTerms: onPaper,
  sign: onPaper,
  broadcast: onPaper,
  readOutcomes: onPaper,
  readWallet: onPaper,
  readLocks: onPaper,
  isLockOver: onPaper,
  findObstacle: onPaper,
  isSigned: onPaper,
  planLock: onPaper,
  readAttesters: onPaper,
  planClaim: onPaper,
  isRefundPublic: onPaper,
  planRefund: onPaper,
  simulateDelivery: onPaper,
  findDeliveries: onPaper,
  readUndelivered: onPaper,
  isDeliveryOver: onPaper,
  planDelivery: onPaper,
  readHoldings: onPaper,
})

/** All that a family of chains is to the service. Its chains can do nothing that it leaves out. */
const paper = {
  name: 'paper',
  title: 'Paper',
  schema,
  nativeToken: { address: 'coin', decimals: 2 },
  addresses: {
    pattern: /^paper:[a-z]+$/,
    form: 'an address on paper',
    parse: (text) => text,
    canSign: () => true,
    keyOf: (text) => text,
    findFault: () => undefined,
  },
  config: {
    roles: { fields: ['vault'], of: ({ vault }) => [{ address: vault, path: '/vault', what: 'the vault' }] },
    contracts: { fields: [], of: () => [] },
    checks: [],
  },
  traits: {
    limitsHold: false,
    hasContracts: false,
    capsPayouts: false,
    paysOnlyFees: true,
    callsPerHead: () => 1,
    maxInFlight: 1,
  },
  keys: {
    roles: ['clerk'],
    sources: [{ process: 'worker', variable: 'PAPER_KEY', roles: ['clerk'], isNeeded: () => true }],
    open: () => ({ address: 'paper:clerk' }),
    addressOf: () => 'paper:clerk',
    inFile: { write: (text) => text, read: (text) => text },
    ofWorker: (_network, chains) => chains.map(({ vault }) => vault),
    ofAttesters: () => [],
  },
  custodyOf: ({ vault }) => ({ program: vault, vault }),
  pinsOf: ({ vault }) => ({ escrow: vault, vault }),
  isSilence: () => false,
  isBehind: () => false,
  connect: ({ config }) => ({
    config,
    chain: chainOf(config),
    attestations: { sign: onPaper, recoverSigner: onPaper },
    custody: {
      chainId: config.chainId,
      readCustody: onPaper,
      findPaid: onPaper,
      isOurLock: onPaper,
      findSold: onPaper,
    },
    recovery: {
      chainId: config.chainId,
      findLockTerms: onPaper,
      findDeliveryTerms: onPaper,
      findDelivery: onPaper,
    },
    view: { readCosts: onPaper, readState: onPaper, readPools: onPaper },
    senders: { relay: [], authorize: [], deliver: [] },
    retiring: [],
    maxAmount: 0n,
    nativeToken: { address: 'coin', decimals: 2 },
    ownAddresses: [config.vault],
    verify: onPaper,
    loadTokens: onPaper,
    readGasBalance: onPaper,
    readTokenBalance: onPaper,
  }),
} satisfies Family<PaperConfig, 'paper'>

test('a family of chains is one object, with a name, addresses and roles of its own', () => {
  const all = [...families, paper]
  const examples = [
    '0x4000000000000000000000000000000000000001',
    '7ZgX6RKtGf9pPZ3FkLkAtVgRkUFQCcMdBbBPtPYtKN5w',
    'paper:clerk',
  ]

  const owners = examples.map((text) =>
    all.filter(({ addresses }) => addresses.pattern.test(text)).map(({ name }) => name),
  )
  const roles = all.flatMap(({ keys }): readonly string[] => keys.roles)

  expect(owners).toEqual([['evm'], ['solana'], ['paper']])
  expect(new Set(roles).size).toBe(roles.length)
})
