import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  agentCard,
  agentRegistration,
  type Deployment,
  product,
  serverJson,
  skillIndex,
  x402Discovery,
} from '@geoswap/wire'
import {
  extractDiscoveryInfoV1,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from '@x402/extensions/bazaar'
import { type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { expect, test } from 'vitest'
import { toManifest } from './pack/published.ts'
import { ROOT } from './sources.ts'

// The public schemas in our own words, as far as they demand something of these documents.
const https = Type.String({ pattern: '^https://[^\\s?#]+$' })
const words = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const strict = (fields: Record<string, TSchema>) => Type.Object(fields, { additionalProperties: false })

const ServerJson = strict({
  $schema: Type.Literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: Type.String({ pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$', minLength: 3, maxLength: 200 }),
  title: words(100),
  description: words(100),
  version: Type.String({ pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$' }),
  websiteUrl: https,
  repository: strict({ url: https, source: words(20) }),
  packages: Type.Array(
    strict({
      registryType: Type.Literal('npm'),
      identifier: Type.String({ pattern: '^(@[a-z-]+/)?[a-z-]+$' }),
      version: Type.String({ pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$' }),
      transport: strict({ type: Type.Literal('stdio') }),
      environmentVariables: Type.Array(
        strict({ name: words(50), description: words(200), isSecret: Type.Optional(Type.Boolean()) }),
      ),
    }),
    { minItems: 1 },
  ),
})

const Skill = strict({
  id: words(64),
  name: words(100),
  description: words(1_024),
  tags: Type.Array(words(50), { minItems: 1 }),
})

const AgentCard = strict({
  name: words(100),
  description: words(1_024),
  version: words(20),
  supportedInterfaces: Type.Array(
    strict({ url: https, protocolBinding: https, protocolVersion: Type.Literal('1.0') }),
    { minItems: 1 },
  ),
  documentationUrl: https,
  iconUrl: Type.Optional(https),
  capabilities: strict({
    streaming: Type.Boolean(),
    pushNotifications: Type.Boolean(),
    extendedAgentCard: Type.Boolean(),
  }),
  securitySchemes: strict({
    apiKey: strict({
      apiKeySecurityScheme: strict({ location: Type.Literal('header'), name: Type.Literal('x-api-key') }),
    }),
  }),
  securityRequirements: Type.Array(
    strict({ schemes: Type.Record(Type.String(), strict({ list: Type.Array(Type.String()) })) }),
  ),
  defaultInputModes: Type.Array(Type.String({ pattern: '^[a-z]+/[a-z+-]+$' }), { minItems: 1 }),
  defaultOutputModes: Type.Array(Type.String({ pattern: '^[a-z]+/[a-z+-]+$' }), { minItems: 1 }),
  skills: Type.Array(Skill, { minItems: 1 }),
})

const Registration = strict({
  type: Type.Literal('https://eips.ethereum.org/EIPS/eip-8004#registration-v1'),
  name: words(100),
  description: words(1_024),
  image: Type.Optional(https),
  services: Type.Array(strict({ name: words(30), endpoint: https, version: Type.Optional(words(20)) }), {
    minItems: 1,
  }),
  x402Support: Type.Boolean(),
  active: Type.Boolean(),
  registrations: Type.Array(
    strict({
      agentId: Type.Integer({ minimum: 0 }),
      agentRegistry: Type.String({ pattern: '^eip155:[0-9]+:0x[0-9a-fA-F]{40}$' }),
    }),
  ),
})

const SkillIndex = strict({
  $schema: Type.Literal('https://schemas.agentskills.io/discovery/0.2.0/schema.json'),
  skills: Type.Array(
    strict({
      name: Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 64 }),
      type: Type.Literal('skill-md'),
      description: words(1_024),
      url: Type.String({ pattern: '^/' }),
      digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
    }),
  ),
})

const plain: Deployment = { url: 'https://swap.example/geoswap' }
const full: Deployment = {
  ...{ ...plain, name: 'Example swaps', image: 'https://swap.example/logo.png' },
  registrations: [{ agentId: 7, agentRegistry: `eip155:8453:0x${'8'.repeat(40)}` }],
}
const skill = {
  name: 'geoswap',
  description: 'Swaps.',
  url: '/skills/geoswap/SKILL.md',
  sha256: 'ab'.repeat(32),
}

test.each<[string, TSchema, object]>([
  ['server.json', ServerJson, serverJson()],
  ['the agent card', AgentCard, agentCard(plain)],
  ['the agent card of a named deployment', AgentCard, agentCard(full)],
  ['the registration file', Registration, agentRegistration(plain, false)],
  ['the registration file of a registered deployment', Registration, agentRegistration(full, true)],
  ['the index of skills', SkillIndex, skillIndex([skill])],
])('%s has the form that its readers demand', (_, schema, document) => {
  const sent: unknown = JSON.parse(JSON.stringify(document))

  expect([...Value.Errors(schema, sent)]).toEqual([])
})

test('catalogues of x402 read how to ask for a swap, in both versions', () => {
  const { extensions, outputSchema } = JSON.parse(JSON.stringify(x402Discovery()))
  const { bazaar } = extensions
  const { input } = bazaar.info

  expect([validateDiscoveryExtensionSpec(bazaar), validateDiscoveryExtension(bazaar)]).toEqual([
    { valid: true },
    { valid: true },
  ])
  const unasked = { ...bazaar, info: { input: { ...input, queryParams: {} } } }
  expect(validateDiscoveryExtension(unasked).valid).toBe(false)
  expect(extractDiscoveryInfoV1({ outputSchema } as never)?.input).toEqual(input)
})

test('the published MCP package says which entry of the registry it is, in the same version', () => {
  const own = readFileSync(join(ROOT, 'packages/mcp/package.json'), 'utf8')
  const manifest = toManifest(JSON.parse(own), {}, 'packages/mcp')

  expect(manifest).toMatchObject({
    name: product.mcp.package,
    version: product.version,
    mcpName: serverJson().name,
  })
})
