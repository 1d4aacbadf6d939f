/**
 * The allowed imports. A file belongs to the first rule that matches its path. Paths in the workspace are
 * written as `service/store/db.ts`: the package, then the path below its `src`. Other targets are module
 * names. `{stage}` stands for its match in `files`.
 */
export type Rule = {
  name: string
  files: RegExp
  /** Targets that may be imported. */
  may: readonly RegExp[]
  /** Targets of which only types may be imported. */
  mayTypesOf?: readonly RegExp[]
}

const NODE = /^node:/
const WIRE = /^wire\//
const PROTOCOL = /^protocol\//
const ERRORS = /^service\/errors\.ts$/
const MODEL = /^service\/model\//
const STORE = /^service\/store\//
const FAIL_POINT = /^service\/fail-point\.ts$/
const OBSERVE = /^service\/observe\//
const CHAIN_PORTS = /^service\/chains\/[\w-]+\.ts$/
const NODES = /^service\/chains\/nodes\//
const VIEM = /^viem($|\/)/
const KIT = /^@solana(-program)?\//
const PG = /^pg$/
const FASTIFY = /^(fastify|@fastify\/[\w-]+)$/
const ANYTHING = /./

export const rules: readonly Rule[] = [
  {
    name: 'the checker shares no code with what it checks',
    files: /^test\/chaos\/checker\//,
    may: [/^test\/chaos\/checker\//, VIEM, KIT, PG, NODE],
  },
  {
    name: 'tests may import anything',
    files: /\.test\.ts$|^[\w-]+\/test\/|^test\//,
    may: [ANYTHING],
  },
  { name: 'scripts may import anything', files: /^scripts\/|^[\w-]+\/scripts\//, may: [ANYTHING] },
  { name: 'wire knows only its schema library', files: /^wire\//, may: [WIRE, /^typebox$/] },
  { name: 'protocol knows only encoders', files: /^protocol\//, may: [PROTOCOL, VIEM, KIT] },

  { name: 'fail-points know nothing', files: FAIL_POINT, may: [NODE] },
  {
    name: 'signals know only who is told',
    files: /^service\/stop-on-signal\.ts$/,
    may: [],
    mayTypesOf: [OBSERVE],
  },
  { name: 'errors know only wire', files: ERRORS, may: [WIRE] },
  { name: 'the model is pure', files: MODEL, may: [MODEL, ERRORS, PROTOCOL], mayTypesOf: [WIRE] },
  { name: 'seals know no business', files: /^service\/seal\//, may: [/^service\/seal\//, ERRORS, NODE] },
  {
    name: 'the store knows the model and PostgreSQL',
    files: STORE,
    may: [STORE, MODEL, ERRORS, PG, NODE],
    mayTypesOf: [WIRE, CHAIN_PORTS],
  },
  {
    name: 'the EVM adapter does not know the flow, the store or Solana',
    files: /^service\/chains\/evm\//,
    may: [/^service\/chains\/evm\//, NODES, CHAIN_PORTS, MODEL, ERRORS, PROTOCOL, VIEM],
  },
  {
    name: 'the Solana adapter does not know the flow, the store or EVM',
    files: /^service\/chains\/solana\//,
    may: [/^service\/chains\/solana\//, NODES, CHAIN_PORTS, MODEL, ERRORS, PROTOCOL, KIT],
  },
  { name: 'the way to a node knows no chain', files: NODES, may: [NODES, NODE] },
  {
    name: 'chain ports know only the model',
    files: CHAIN_PORTS,
    may: [CHAIN_PORTS, MODEL, ERRORS],
    mayTypesOf: [WIRE, PROTOCOL],
  },
  {
    name: 'observation knows no business',
    files: OBSERVE,
    may: [OBSERVE, MODEL, NODE, /^pino$/, /^prom-client$/],
  },

  {
    name: 'a route knows its own stage, wire and the types of Fastify',
    files: /^service\/flow\/(?<stage>[\w-]+)\/route\.ts$/,
    may: [/^service\/flow\/{stage}\//, WIRE],
    mayTypesOf: [FASTIFY],
  },
  {
    name: 'a stage knows no other stage, no vendor and no transport',
    files: /^service\/flow\/(?<stage>[\w-]+)\//,
    may: [/^service\/flow\/{stage}\//, ERRORS, FAIL_POINT, MODEL, STORE, WIRE, PROTOCOL, /^node:crypto$/],
    mayTypesOf: [CHAIN_PORTS, /^service\/(lanes|market|seal)\//, PG],
  },
  {
    name: 'lanes, market, ledger, rebuild and attester work through ports',
    files: /^service\/(?<part>lanes|market|ledger|rebuild|attester)\//,
    may: [/^service\/{part}\//, ERRORS, FAIL_POINT, MODEL, STORE, PROTOCOL, NODE],
    mayTypesOf: [CHAIN_PORTS, OBSERVE, WIRE, PG],
  },
  {
    name: 'webhooks know the log of events and the outside, not the flow',
    files: /^service\/webhooks\//,
    may: [/^service\/webhooks\//, ERRORS, MODEL, STORE, WIRE, NODE],
    mayTypesOf: [/^service\/seal\//, PG],
  },
  {
    name: 'HTTP knows routes, not workflows',
    files: /^service\/http\//,
    may: [
      /^service\/http\//,
      /^service\/flow\/[\w-]+\/route\.ts$/,
      /^service\/store\/db\.ts$/,
      /^service\/observe\/swap-trace\.ts$/,
      ERRORS,
      WIRE,
      FASTIFY,
      NODE,
    ],
    mayTypesOf: [STORE, OBSERVE, /^service\/flow\/status\/(wait|streams)\.ts$/, /^prom-client$/],
  },
  {
    name: 'the configuration is read before anything else exists',
    files: /^service\/config(\.ts$|\/)/,
    may: [/^service\/config(\.ts$|\/)/, MODEL, PROTOCOL, VIEM, KIT, NODE, /^typebox/],
  },
  {
    name: 'only the composition root and the entry points know everything',
    files: /^service\/(compose\/|operate\/|(main|api-key|webhook|command)\.ts$)/,
    may: [/^service\//, WIRE, PROTOCOL, VIEM, KIT, PG, FASTIFY, NODE, /^prom-client$/],
  },

  {
    name: 'the SDK does not know the service',
    files: /^sdk\//,
    may: [/^sdk\//, WIRE, PROTOCOL, VIEM, KIT, NODE],
  },
  {
    name: 'what the command line keeps on disk knows no terminal and no command',
    files: /^cli\/(store\/|errors\.ts$|keys\.ts$)/,
    may: [/^cli\/(store\/|errors\.ts$|keys\.ts$)/, /^sdk\//, VIEM, KIT, NODE],
  },
  {
    name: 'commands do not know each other',
    files: /^cli\/commands\/(?!all\.ts$)/,
    may: [
      /^cli\/(?!commands\/|main\.ts$|run\.ts$)/,
      /^cli\/commands\/order-options\.ts$/,
      /^sdk\//,
      PROTOCOL,
      NODE,
    ],
  },
  {
    name: 'what uses the SDK does not know the service',
    files: /^(?<own>cli|web)\//,
    may: [/^{own}\//, /^sdk\//, WIRE, PROTOCOL, VIEM, KIT, NODE, /^(?!@geoswap\/)[@a-z]/],
  },
  {
    name: 'contracts know only the protocol',
    files: /^contracts\//,
    may: [/^contracts\//, PROTOCOL, VIEM, NODE, /^hardhat/, /^solc$/],
  },
  { name: 'the local network may import anything', files: /^devnet\//, may: [ANYTHING] },
]

/** Imports that break a rule on purpose. */
export const exceptions: readonly { from: RegExp; to: RegExp; reason: string }[] = []

/** Only these files may read the environment. */
export const entryPoints: readonly RegExp[] = [
  /^service\/(main|api-key|webhook)\.ts$/,
  /^(devnet|cli)\/main\.ts$/,
  /^scripts\/|^[\w-]+\/scripts\//,
  /\.test\.ts$|^test\/|^[\w-]+\/test\//,
]

export const bannedNames = new Set([
  'utils',
  'util',
  'helpers',
  'helper',
  'common',
  'shared',
  'misc',
  'types',
  'interfaces',
  'constants',
])
