import { expect, test } from 'vitest'
import { defaultDeadlines } from '../config.ts'
import { defaultCapBps } from '../swap/exposure.ts'
import { maxHeadAgeMs } from '../swap/finality.ts'
import { VenueSchema } from '../venues/registry.ts'
import { NetworkSchema } from './network-schema.ts'
import { findShapeProblems } from './shape.ts'

type Schema = {
  description?: string
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  anyOf?: Schema[]
  items?: Schema | Schema[]
}

/** Every property by its path, at any depth. */
function propertiesOf(schema: Schema, at = ''): [path: string, property: Schema][] {
  const named = Object.entries(schema.properties ?? {}).map(
    ([name, each]) => [`${at}/${name}`, each] as const,
  )
  const parts = [schema.items ?? [], schema.anyOf ?? [], Object.values(schema.patternProperties ?? {})].flat()
  return [
    ...named.flatMap(([path, each]): [string, Schema][] => [[path, each], ...propertiesOf(each, path)]),
    ...parts.flatMap((part) => propertiesOf(part, at)),
  ]
}

const properties = propertiesOf(NetworkSchema as Schema)

test('every property has a description that is a sentence', () => {
  const undescribed = properties.filter(([, { description }]) => !/^\S.*[.…]$/.test(description ?? ''))

  expect(properties.length).toBeGreaterThan(90)
  expect(undescribed.map(([path]) => path)).toEqual([])
})

/** Every nested schema. */
function schemasIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(schemasIn)
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner]
}

test('the schema conforms to draft 2020-12: one schema for all items of a list', () => {
  const schemas = schemasIn(NetworkSchema)
  const older = schemas.filter((schema) => 'additionalItems' in schema || Array.isArray(schema['items']))

  expect(schemas.length).toBeGreaterThan(90)
  expect(older).toEqual([])
})

test.each([[['ETH']], [['ETH', 'USDC', 'SOL']]])('%j is not a pair', (assets) => {
  const pair = { kind: 'inventory', pairs: [{ assets, spreadBps: 5 }] }

  expect(findShapeProblems(VenueSchema, pair).map(({ path }) => path)).toEqual(['/pairs/0/assets'])
})

test('the documented defaults are the effective ones', () => {
  const told = Object.entries(defaultDeadlines).map(([name, seconds]) => {
    const [, property] = properties.find(([path]) => path === `/deadlines/${name}`) ?? []
    return property?.description?.endsWith(` Default ${seconds}.`)
  })
  const [, headAge] = properties.find(([path]) => path === '/chains/maxHeadAgeMs') ?? []
  const [, exposure] = properties.find(([path]) => path === '/chains/exposureCapUsd') ?? []
  const [, fast] = properties.find(([path]) => path === '/chains/fastCapUsd') ?? []

  expect(told).toEqual(told.map(() => true))
  expect(exposure?.description).toContain(
    `Default: ${defaultCapBps.exposed / 100n} % of what all vaults hold`,
  )
  expect(fast?.description).toContain(`${defaultCapBps.fast / 100n} % of what all vaults hold.`)
  expect(headAge?.description).toContain('Default 15000, or five times blockMs where that is more.')
  expect([400, 12_000].map((blockMs) => maxHeadAgeMs({ blockMs }))).toEqual([15_000, 60_000])
})
