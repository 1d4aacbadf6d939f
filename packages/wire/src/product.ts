import { x402Request } from './examples.ts'
import { X402Request } from './x402.ts'

/** The product in words and addresses. Every document by which machines find it is made from this. */
export const product = {
  name: 'geoswap',
  version: '0.1.0',
  description: 'Gasless token swaps across chains: quote, sign once, delivered or refunded.',
  homepage: 'https://github.com/geoswap/geoswap',
  mcp: { name: 'io.github.geoswap/geoswap', package: '@geoswap/mcp' },
  skills: [
    {
      id: 'swap',
      name: 'Swap',
      description:
        'Prices and performs a swap between tokens of EVM chains and Solana, from a wallet without gas.',
      tags: ['swap', 'bridge', 'tokens', 'gasless'],
    },
    {
      id: 'follow',
      name: 'Follow swaps',
      description: 'Tells the status of a swap, its changes as they happen, and the history of an account.',
      tags: ['status', 'history'],
    },
  ],
} as const

/** A deployment as its operator names it. No URL is ever taken from a request. */
export type Deployment = {
  /** Public URL of the API with its path, without a slash at the end. */
  url: string
  name?: string | undefined
  image?: string | undefined
  /** Its entries in registries of ERC-8004. */
  registrations?: readonly { agentId: number; agentRegistry: string }[] | undefined
}

/** `server.json` of the MCP registry, for the package of the MCP server. */
export function serverJson() {
  const { name, version, description, homepage, mcp } = product
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: mcp.name,
    title: name,
    description,
    version,
    websiteUrl: homepage,
    repository: { url: homepage, source: 'github' },
    packages: [
      {
        ...{ registryType: 'npm', identifier: mcp.package, version, transport: { type: 'stdio' } },
        environmentVariables: [
          { name: 'GEOSWAP_URL', description: 'URL of the service.' },
          { name: 'GEOSWAP_API_KEY', description: 'API key of the service.', isSecret: true },
          { name: 'GEOSWAP_PASSPHRASE', description: 'Opens the wallets that may pay.', isSecret: true },
        ],
      },
    ],
  }
}

/** The agent card of A2A 1.0. Its interface is the HTTP API, named by its description: no call of A2A is served. */
export function agentCard({ url, name = product.name, image }: Deployment) {
  const json = ['application/json']
  return {
    name,
    description: product.description,
    version: product.version,
    supportedInterfaces: [{ url, protocolBinding: `${url}/openapi.json`, protocolVersion: '1.0' }],
    documentationUrl: `${url}/docs/`,
    iconUrl: image,
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
    securitySchemes: { apiKey: { apiKeySecurityScheme: { location: 'header', name: 'x-api-key' } } },
    securityRequirements: [{ schemes: { apiKey: { list: [] } } }],
    defaultInputModes: json,
    defaultOutputModes: json,
    skills: product.skills,
  }
}

/** The registration file of ERC-8004. */
export function agentRegistration(
  { url, name = product.name, image, registrations = [] }: Deployment,
  x402Support: boolean,
) {
  return {
    type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
    name,
    description: product.description,
    image,
    services: [
      { name: 'web', endpoint: `${url}/docs/` },
      { name: 'OpenAPI', endpoint: `${url}/openapi.json`, version: '3.1' },
      { name: 'A2A', endpoint: `${url}/.well-known/agent-card.json`, version: '1.0' },
    ],
    x402Support,
    active: true,
    registrations,
  }
}

type Skill = { name: string; description: string; url: string; sha256: string }

/** The index of agent skills. */
export function skillIndex(skills: readonly Skill[]) {
  return {
    $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
    skills: skills.map(({ name, description, url, sha256 }) => {
      return { name, type: 'skill-md', description, url, digest: `sha256:${sha256}` }
    }),
  }
}

/**
 * How `/swap/x402` is asked, for catalogues of x402: `extensions` of version 2, `outputSchema` of version 1. In few
 * words: they travel in headers.
 */
export function x402Discovery() {
  const { properties, required } = X402Request
  const names = Object.keys(properties).map((name) => [name, { type: 'string' }])
  const queryParams = { type: 'object', properties: Object.fromEntries(names), required }
  const input = { type: 'http', method: 'GET', queryParams: x402Request }
  const fields = { type: { const: 'http' }, method: { enum: ['GET'] }, queryParams }
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      input: {
        type: 'object',
        properties: fields,
        required: Object.keys(fields),
        additionalProperties: false,
      },
    },
    required: ['input'],
  }
  return {
    extensions: { bazaar: { info: { input, output: { type: 'json' } }, schema } },
    outputSchema: { input: { ...input, discoverable: true }, output: { type: 'object' } },
  }
}
