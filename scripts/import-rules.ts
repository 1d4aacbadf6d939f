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
const TIMERS = /^node:timers\/promises$/
const KEPT = /^service\/async\/cache\.ts$/
const WIRE = /^wire\//
const WIRE_NAMES = /^wire\/(names|caip)\.ts$/
const PROTOCOL = /^protocol\//
const SDK = /^sdk\//
const SOLANA_ESCROW = /^solana-escrow\//
const WALLET = /^wallet\//
const ERRORS = /^service\/errors\.ts$/
const SWAP = /^service\/swap\//
const STORE = /^service\/store\//
const FAIL_POINT = /^service\/fail-point\.ts$/
const ISOLATE = /^service\/isolate\.ts$/
const ASYNC = /^service\/async\//
const OBSERVE = /^service\/observe\//
const WAYS = /^service\/ways\/(registry|way)\.ts$/
const CHAIN_PORTS = /^service\/chains\/(?!families\.ts$)[\w-]+\.ts$/
const FAMILIES = /^service\/chains\/families\.ts$/
const NODES = /^service\/chains\/nodes\//
const SCREEN = /^service\/screen\/(denials|screening)\.ts$/
const VENUE_KIND = /^service\/venues\/kind\.ts$/
const CONFIG_FIELDS = /^service\/config\/(fields|shape)\.ts$/
const TYPEBOX = /^typebox($|\/)/
const VIEM = /^viem($|\/)/
const SECP256K1 = /^tiny-secp256k1$/
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
  { name: 'wire knows only its schema library', files: /^wire\//, may: [WIRE, /^typebox(\/value)?$/] },
  { name: 'protocol knows only encoders', files: /^protocol\//, may: [PROTOCOL, VIEM, KIT] },
  { name: 'the assembler knows nothing', files: /^sbpf\//, may: [/^sbpf\//, NODE] },
  { name: 'the Solana escrow knows only encoders', files: SOLANA_ESCROW, may: [SOLANA_ESCROW, KIT] },

  { name: 'timers and caches know nothing', files: ASYNC, may: [ASYNC, NODE] },
  { name: 'fail-points know nothing', files: FAIL_POINT, may: [NODE] },
  { name: 'isolation knows nothing', files: ISOLATE, may: [] },
  {
    name: 'signals know only who is told',
    files: /^service\/stop-on-signal\.ts$/,
    may: [],
    mayTypesOf: [OBSERVE],
  },
  { name: 'errors know only wire', files: ERRORS, may: [WIRE] },
  { name: 'the rules of a swap are pure', files: SWAP, may: [SWAP, ERRORS, PROTOCOL, WIRE] },
  { name: 'seals know no business', files: /^service\/seal\//, may: [/^service\/seal\//, ERRORS, NODE] },
  {
    name: 'the store knows the rules of a swap and PostgreSQL',
    files: STORE,
    may: [STORE, SWAP, WAYS, ERRORS, ASYNC, PG, NODE],
    mayTypesOf: [WIRE, CHAIN_PORTS],
  },
  {
    name: 'the EVM adapter knows no stage, no store and no Solana',
    files: /^service\/chains\/evm\//,
    may: [
      /^service\/chains\/evm\//,
      NODES,
      CHAIN_PORTS,
      SWAP,
      ERRORS,
      ISOLATE,
      PROTOCOL,
      CONFIG_FIELDS,
      TYPEBOX,
      VIEM,
      SECP256K1,
      TIMERS,
      KEPT,
    ],
  },
  {
    name: 'the Solana adapter knows no stage, no store and no EVM',
    files: /^service\/chains\/solana\//,
    may: [
      /^service\/chains\/solana\//,
      NODES,
      CHAIN_PORTS,
      SWAP,
      ERRORS,
      ISOLATE,
      PROTOCOL,
      SOLANA_ESCROW,
      CONFIG_FIELDS,
      TYPEBOX,
      KIT,
      TIMERS,
      /^node:crypto$/,
      KEPT,
    ],
  },
  { name: 'the way to a node knows no chain', files: NODES, may: [NODES, NODE] },
  {
    name: 'chain ports know only the rules of a swap',
    files: CHAIN_PORTS,
    may: [CHAIN_PORTS, SWAP, ERRORS, KEPT],
    mayTypesOf: [WIRE, PROTOCOL, NODES, CONFIG_FIELDS, TYPEBOX],
  },
  {
    name: 'the registry of families alone knows all of them',
    files: FAMILIES,
    may: [/^service\/chains\/[\w-]+\/(family|config)\.ts$/, CONFIG_FIELDS, TYPEBOX],
    mayTypesOf: [CHAIN_PORTS],
  },
  {
    name: 'a venue quotes from memory: it knows the rules of a swap and its own configuration',
    files: /^service\/venues\/(?<venue>[\w-]+)\/\k<venue>\.ts$/,
    may: [SWAP, CONFIG_FIELDS, VIEM, TYPEBOX],
    mayTypesOf: [VENUE_KIND],
  },
  {
    name: 'a venue knows its chain, and no other venue',
    files: /^service\/venues\/(?<venue>[\w-]+)\//,
    may: [/^service\/venues\/{venue}\//, /^service\/chains\/evm\//, CHAIN_PORTS, SWAP, PROTOCOL, VIEM],
  },
  {
    name: 'the registry of venues knows no process',
    files: /^service\/venues\//,
    may: [/^service\/venues\//, TYPEBOX],
    mayTypesOf: [/^service\/chains\/evm\/venue\.ts$/, CHAIN_PORTS, CONFIG_FIELDS, SWAP],
  },
  {
    name: 'a way in knows its chain and the rules of a swap, and no stage',
    files: /^service\/ways\//,
    may: [
      /^service\/ways\//,
      /^service\/chains\/evm\//,
      /^service\/chains\/nodes\/agree\.ts$/,
      SWAP,
      ERRORS,
      PROTOCOL,
      VIEM,
    ],
    mayTypesOf: [CHAIN_PORTS, WIRE],
  },
  {
    name: 'observation reads and decides nothing',
    files: OBSERVE,
    may: [OBSERVE, SWAP, STORE, NODE, /^viem$/, /^pino$/, /^prom-client$/],
    mayTypesOf: [CHAIN_PORTS, /^service\/(engine|market)\//, PG],
  },

  {
    name: 'a route knows its own stage, wire, timers and the types of Fastify',
    files: /^service\/stages\/(?<stage>[\w-]+)\/route\.ts$/,
    may: [/^service\/stages\/{stage}\//, ASYNC, WIRE],
    mayTypesOf: [FASTIFY],
  },
  {
    name: 'a stage knows no other stage, no vendor and no transport',
    files: /^service\/stages\/(?<stage>[\w-]+)\//,
    may: [
      /^service\/stages\/{stage}\//,
      ASYNC,
      ERRORS,
      FAIL_POINT,
      ISOLATE,
      SWAP,
      STORE,
      WAYS,
      WIRE,
      PROTOCOL,
      /^node:crypto$/,
    ],
    mayTypesOf: [CHAIN_PORTS, SCREEN, /^service\/(engine|market|seal)\//, PG],
  },
  {
    name: 'screening decides about addresses and knows no swap, no chain and no store',
    files: /^service\/screen\//,
    may: [/^service\/screen\//, CONFIG_FIELDS, TYPEBOX, NODE],
  },
  {
    name: 'engine, market and books work through ports',
    files: /^service\/(?<part>engine|market|books\/ledger|books\/rebuild)\//,
    may: [/^service\/{part}\//, ASYNC, ERRORS, FAIL_POINT, ISOLATE, SWAP, STORE, PROTOCOL, NODE],
    mayTypesOf: [CHAIN_PORTS, OBSERVE, WIRE, PG],
  },
  {
    name: 'webhooks know the log of events and the outside, not the stages',
    files: /^service\/webhooks\//,
    may: [/^service\/webhooks\//, ERRORS, SWAP, STORE, WIRE, NODE],
    mayTypesOf: [/^service\/seal\//, PG],
  },
  {
    name: "the operator's reads know the store and memory, not workflows",
    files: /^service\/http\/operator\//,
    may: [/^service\/http\//, ASYNC, SWAP, STORE, ERRORS, WIRE, FASTIFY, NODE, /^viem$/],
    mayTypesOf: [OBSERVE, /^service\/(engine|market)\//, PG],
  },
  {
    name: 'HTTP knows routes, not workflows',
    files: /^service\/http\//,
    may: [
      ASYNC,
      /^service\/http\//,
      /^service\/stages\/[\w-]+\/route\.ts$/,
      /^service\/store\/db\.ts$/,
      /^service\/observe\/otlp\.ts$/,
      ERRORS,
      WIRE,
      FASTIFY,
      /^@slicekit\/erc8128$/,
      NODE,
    ],
    mayTypesOf: [STORE, OBSERVE, /^service\/stages\/status\/(wait|streams)\.ts$/, /^prom-client$/],
  },
  {
    name: 'the configuration is read before anything else exists',
    files: /^service\/config(\.ts$|\/)/,
    may: [
      /^service\/config(\.ts$|\/)/,
      /^service\/venues\/registry\.ts$/,
      /^service\/screen\/config\.ts$/,
      FAMILIES,
      SWAP,
      PROTOCOL,
      VIEM,
      KIT,
      NODE,
      TYPEBOX,
      /^(jsonc-parser$|ox\/)/,
    ],
    mayTypesOf: [CHAIN_PORTS],
  },
  {
    name: 'a remote signer knows the port of a key and no other part',
    files: /^service\/signers\//,
    may: [/^service\/signers\//, /^service\/chains\/solana\/signing\.ts$/, VIEM, KIT, NODE],
    mayTypesOf: [/^service\/chains\/evm\/signer\.ts$/],
  },
  {
    name: 'compose wires all rooms: it answers no request, refuses nothing and measures nothing itself',
    files: /^service\/compose\//,
    may: [
      /^service\/(async|books|chains|compose|config|engine|http|market|stages|swap)\//,
      /^service\/(observe|screen|seal|signers|store|venues|ways|webhooks)\//,
      /^service\/config\.ts$/,
      ISOLATE,
      PROTOCOL,
      VIEM,
      NODE,
    ],
    mayTypesOf: [KIT, PG, FASTIFY, /^prom-client$/],
  },
  {
    name: 'a command of the operator knows no stage and starts no process by itself',
    files: /^service\/operate\//,
    may: [
      /^service\/(chains|config|market|operate|screen|store|swap|venues|webhooks)\//,
      /^service\/compose\/(?!(api|worker|attester)\.ts$)/,
      /^service\/(command|config|errors|http\/api-key)\.ts$/,
      WIRE,
      PROTOCOL,
      VIEM,
      TYPEBOX,
      NODE,
    ],
    mayTypesOf: [/^service\/(engine|books)\//, PG],
  },
  {
    name: 'entry points read the environment and start a process or a command',
    files: /^service\/(main|command)\.ts$/,
    may: [/^service\//, NODE],
    mayTypesOf: [PG],
  },

  {
    name: 'the SDK does not know the service',
    files: SDK,
    may: [SDK, WIRE, PROTOCOL, SOLANA_ESCROW, VIEM, KIT, NODE],
  },
  {
    name: 'what a wallet keeps on disk knows no terminal and no swap',
    files: /^wallet\/(store\/|errors\.ts$)/,
    may: [/^wallet\/(store\/|errors\.ts$|keys\.ts$)/, SDK, VIEM, KIT, NODE, /^ox\/Keystore$/],
  },
  {
    name: 'a wallet knows neither its commands nor its server',
    files: WALLET,
    may: [WALLET, SDK, WIRE_NAMES, PROTOCOL, SOLANA_ESCROW, VIEM, KIT, NODE],
  },
  {
    name: 'the MCP server knows no command',
    files: /^mcp\//,
    may: [
      /^mcp\//,
      WALLET,
      SDK,
      NODE,
      /^wire\/(nearest|is-reply|names|product)\.ts$/,
      /^@modelcontextprotocol\//,
      TYPEBOX,
    ],
  },
  {
    name: "an agent has the MCP server's tools and no server, and its adapters load no framework",
    files: /^agent\//,
    may: [/^agent\//, /^mcp\/(call-tool|open-context|tools)\.ts$/, WALLET, NODE],
  },
  {
    name: 'commands do not know each other',
    files: /^cli\/commands\/(?!all\.ts$)/,
    may: [
      /^cli\/(?!commands\/|main\.ts$|run\.ts$)/,
      /^cli\/commands\/order-options\.ts$/,
      /^mcp\/(open-context|serve)\.ts$/,
      WALLET,
      SDK,
      WIRE_NAMES,
      PROTOCOL,
      NODE,
    ],
  },
  {
    name: 'the command line knows its commands',
    files: /^cli\//,
    may: [/^cli\//, WALLET, SDK, NODE, /^wire\/nearest\.ts$/],
  },
  {
    name: 'the page does not know the service',
    files: /^web\//,
    may: [/^web\//, SDK, WIRE, PROTOCOL, VIEM, KIT, NODE, /^(?!@geoswap\/)[@a-z]/],
  },
  {
    name: 'contracts know only the protocol',
    files: /^contracts\//,
    may: [/^contracts\//, PROTOCOL, VIEM, NODE, /^hardhat/, /^solc$/],
  },
  {
    name: 'the Solana node knows nothing of this project',
    files: /^solana-rpc\//,
    may: [/^solana-rpc\//, KIT, NODE, /^(litesvm|ws)$/],
  },
  { name: 'the local network may import anything', files: /^devnet\//, may: [ANYTHING] },
]

type Exception = { from: RegExp; to: RegExp; reason: string }

/** Imports that break a rule on purpose. */
export const exceptions: readonly Exception[] = []

/** Imports of types that close a cycle on purpose. */
export const typeCycles: readonly Exception[] = [
  {
    from: /^test\/chaos\/(workload|crowd\/kinds)\.ts$/,
    to: /^test\/chaos\/plan\.ts$/,
    reason: 'a plan has clients, which are drawn apart',
  },
  {
    from: /^test\/lies\/offers\.ts$/,
    to: /^test\/lies\/liar\.ts$/,
    reason: 'the liar tells the replies that offers make',
  },
]

/** Only these files may read the environment. */
export const entryPoints: readonly RegExp[] = [
  /^service\/main\.ts$/,
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
