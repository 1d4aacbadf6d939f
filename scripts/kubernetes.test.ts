import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts'
import type { Job } from 'kubernetes-types/batch/v1.d.ts'
import type { Container, PodSpec } from 'kubernetes-types/core/v1.d.ts'
import type { Ingress, NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts'
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts'
import { afterAll, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { HEALTH_PATHS } from '../packages/service/src/http/health.ts'
import { ROOT } from './sources.ts'

const FOLDER = join(ROOT, 'deploy/kubernetes')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const folders = ['base', 'example'].map((name) => join(FOLDER, name))
const scratch = mkdtempSync(join(tmpdir(), 'geoswap-kubernetes-'))
afterAll(() => rmSync(scratch, { recursive: true }))

type Resource = {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
}
// Kubernetes reads YAML 1.1, where 0440 is octal.
const parseAll = (text: string): Resource[] =>
  parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS())
const written = folders
  .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  .filter((file) => !file.endsWith('kustomization.yaml'))
  .flatMap((file) => parseAll(readFileSync(file, 'utf8')))

/** All of a kind. The schemas' test shows that they are what they are taken for. */
const allOf = <T>(kind: string) =>
  written.filter((resource) => resource.kind === kind) as (Resource & { spec: NonNullable<T> })[]
const policies = allOf<NetworkPolicy['spec']>('NetworkPolicy')
const workloads = new Map(
  [...allOf<Deployment['spec']>('Deployment'), ...allOf<Job['spec']>('Job')].map((workload) => [
    workload.metadata.labels?.['app.kubernetes.io/component'] ?? '',
    {
      namespace: workload.metadata.namespace,
      spec: workload.spec,
      pod: workload.spec.template.spec as PodSpec,
    },
  ]),
)
const PARTS = ['api', 'attester', 'migrate', 'worker']
const podOf = (part: string) => workloads.get(part)?.pod ?? { containers: [] }
const containerOf = (part: string) => podOf(part).containers[0] as Container
const { services } = parse(read('deploy/compose.yaml'), { merge: true })

const wrong = structuredClone(written.filter(({ metadata }) => metadata.name === 'geoswap-api'))
for (const resource of wrong) Reflect.deleteProperty(Reflect.get(resource, 'spec'), 'selector')

/** The example as kustomize builds it. Undefined on a machine without kubectl, which checks the files alone. */
function build(): Resource[] | undefined {
  cpSync(FOLDER, join(scratch, 'overlay'), { recursive: true })
  writeFileSync(join(scratch, 'overlay/example/geoswap.json'), '{}')
  const { error, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(scratch, 'overlay/example')], {
    encoding: 'utf8',
  })
  if (error) return undefined
  expect(stderr).toBe('')
  return parseAll(stdout)
}

/** A file that compiles if the resources fit the types that are made from Kubernetes' own definition of its API. */
function toSource(resources: readonly Resource[]): string {
  const lines = resources.map((resource, index) => {
    const [group = '', version] = resource.apiVersion.split('/')
    const module = version ? `${group.split('.')[0]}/${version}` : 'core/v1'
    const type = `import('kubernetes-types/${module}').${resource.kind}`
    return `export const r${index}: ${type} = ${JSON.stringify(resource)}`
  })
  return lines.join('\n')
}

test('the example builds, and every manifest fits the schema of Kubernetes, which finds a wrong field', () => {
  const built = build() ?? written
  const misspelled = JSON.parse(JSON.stringify(written).replace('readinessProbe', 'readynessProbe'))
  const sources = { written, built, misspelled, wrong }
  for (const [name, resources] of Object.entries(sources))
    writeFileSync(join(scratch, `${name}.ts`), toSource(resources))
  const paths = { 'kubernetes-types/*': [join(ROOT, 'node_modules/kubernetes-types/*')] }
  const quick = { types: [], lib: ['es2023'], skipLibCheck: true }
  const compilerOptions = { strict: true, noEmit: true, ...quick, module: 'preserve', paths }
  const files = Object.keys(sources).map((name) => `${name}.ts`)
  writeFileSync(join(scratch, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))

  const compile = ['--checkers', '1', '-p', scratch]
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), compile, { encoding: 'utf8' })
  const problems = stdout.split('\n').filter((line) => line.includes('error'))
  const named = problems.map((line) => /(\w+)\.ts\(.*'"?(\w+)"?'/.exec(line)?.slice(1, 2)[0])

  expect(written.length).toBeGreaterThan(15)
  expect(problems.find((line) => line.includes('misspelled.ts'))).toContain('readynessProbe')
  expect(problems.find((line) => line.includes('wrong.ts'))).toContain("'selector' is missing")
  expect(new Set(named)).toEqual(new Set(['misspelled', 'wrong']))
})

test('the example starts one image by its digest, and new pods with a new configuration', () => {
  const built = build()
  const images = new Set(JSON.stringify(built ?? []).match(/"image":"[^"]+"/g))
  const named = JSON.stringify(built ?? []).match(/"configMap":\{"name":"geoswap-\w+"\}/g)
  const configs = built?.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata.namespace)
  if (!built) return expect(read('deploy/kubernetes/example/kustomization.yaml')).toContain('digest: sha256:')

  expect(built.length).toBe(written.length + 2)
  expect(configs?.sort()).toEqual(['geoswap', 'geoswap-attester'])
  expect(named).toHaveLength(PARTS.length)
  expect([...images]).toEqual([`"image":"registry.example/geoswap@sha256:${'0'.repeat(64)}"`])
})

test('every part has the command, the settings and the rights that it has in compose.yaml', () => {
  expect([...workloads.keys()].sort()).toEqual(PARTS)
  for (const part of PARTS) {
    const { args, env = [], securityContext } = containerOf(part)
    const settings = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    const { GEOSWAP_TRUSTED_PROXIES: _, ...expected } = services[part].environment
    const { GEOSWAP_TRUSTED_PROXIES: proxies, ...given } = settings

    expect(args).toEqual(services[part].command)
    expect(given).toEqual(expected)
    expect(proxies !== undefined).toBe(part === 'api')
    expect(securityContext).toEqual({
      readOnlyRootFilesystem: services[part].read_only,
      allowPrivilegeEscalation: false,
      capabilities: { drop: services[part].cap_drop },
    })
    expect(podOf(part).securityContext?.runAsNonRoot).toBe(true)
    expect(podOf(part).automountServiceAccountToken).toBe(false)
  }
})

test('every secret is a file that secrets.sh makes, and goes to the part that has it in compose.yaml', () => {
  const script = read('deploy/kubernetes/secrets.sh')
  const made = new Map(
    [...script.matchAll(/give (geoswap\S*) (\S+) \$\(files (.+)\)/g)].map(([, namespace, name, files]) => [
      `${namespace}/${name}`,
      files?.split(' '),
    ]),
  )
  const keystores = [...script.matchAll(/give (\S+ \S+-keystore) --from-file="\$from\/(\S+)"/g)]

  for (const part of PARTS) {
    const { namespace } = workloads.get(part) ?? {}
    const volumes = podOf(part).volumes ?? []
    const mounted = volumes.flatMap(({ secret }) => secret?.secretName ?? [])
    const name = `geoswap-${part === 'migrate' ? 'migrate' : part}`
    expect(made.get(`${namespace}/${name}`)?.sort()).toEqual(services[part].secrets.sort())
    expect(mounted).toContain(name)
    const given = keystores
      .map(([, target]) => target)
      .filter((target) => target?.endsWith(`${name}-keystore`))
    expect(given).toEqual(mounted.includes(`${name}-keystore`) ? [`${namespace} ${name}-keystore`] : [])
    expect(volumes.flatMap(({ secret }) => secret?.defaultMode ?? [])).toEqual(mounted.map(() => 0o440))
    expect(JSON.stringify(containerOf(part))).not.toContain('secretKeyRef')
  }
  expect(keystores.map(([, , folder]) => `./${folder}`)).toEqual(
    ['worker', 'attester'].map((part) => services[part].volumes[1].split(':')[0]),
  )
})

test('ports and probes are those of the processes, and a pod may drain as long as in compose.yaml', () => {
  const [exposed] = /(?<=EXPOSE )\d+/.exec(read('deploy/Dockerfile')) ?? []
  for (const part of ['api', 'attester', 'worker']) {
    const { ports = [], startupProbe, readinessProbe, livenessProbe } = containerOf(part)
    const [port] = ports
    const asked = [startupProbe, readinessProbe, livenessProbe].map((probe) => probe?.httpGet)

    expect(String(port?.containerPort)).toBe(services[part].environment.METRICS_PORT ?? exposed)
    expect(asked.map((get) => get?.path)).toEqual(['/health', '/ready', '/health'])
    expect(asked.every((get) => get?.port === port?.name && HEALTH_PATHS.includes(get?.path ?? ''))).toBe(
      true,
    )
    expect(`${podOf(part).terminationGracePeriodSeconds}s`).toBe(services[part].stop_grace_period)
  }
})

test('one process of a part is away at a time, and as many run as compose.yaml has', () => {
  const budgets = allOf<PodDisruptionBudget['spec']>('PodDisruptionBudget')
  for (const part of ['api', 'attester', 'worker']) {
    const { namespace, spec } = workloads.get(part) ?? {}
    const { replicas, strategy, selector, template } = spec as NonNullable<Deployment['spec']>
    const budget = budgets.find(({ metadata }) => metadata.name === `geoswap-${part}`)

    expect(replicas).toBe(services[part].deploy?.replicas ?? 1)
    expect(strategy?.rollingUpdate).toEqual({ maxSurge: 0, maxUnavailable: 1 })
    expect(budget?.spec).toEqual({ maxUnavailable: 1, selector })
    expect(budget?.metadata.namespace).toBe(namespace)
    expect(template.metadata?.labels).toEqual(selector.matchLabels)
  }
})

test('the attester reaches names, the database and its own nodes, and nobody but monitoring reaches it', () => {
  const own = policies.filter(({ metadata }) => metadata.namespace === 'geoswap-attester')
  const reach = (kind: 'ingress' | 'egress') =>
    own
      .flatMap(({ spec }) => (spec[kind] ?? []).flatMap(({ ports = [] }) => ports.map(({ port }) => port)))
      .sort()
  const internet = policies.filter(({ spec }) => JSON.stringify(spec).includes('0.0.0.0/0'))

  expect(workloads.get('attester')?.namespace).toBe('geoswap-attester')
  expect(PARTS.filter((part) => workloads.get(part)?.namespace === 'geoswap-attester')).toEqual(['attester'])
  expect(reach('egress')).toEqual([443, 53, 53, 5432])
  expect(reach('ingress')).toEqual([9464])
  expect(internet.map(({ metadata }) => metadata.namespace)).toEqual(['geoswap'])
  for (const namespace of ['geoswap', 'geoswap-attester']) {
    const all = policies.filter(({ metadata }) => metadata.namespace === namespace)
    expect(all[0]?.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
  }
  for (const { spec } of policies) {
    const named = [spec.ingress && 'Ingress', spec.egress && 'Egress'].filter(Boolean)
    if (named.length > 0) expect(spec.policyTypes).toEqual(named)
    const ports = [...(spec.ingress ?? []), ...(spec.egress ?? [])].flatMap((rule) => rule.ports ?? [])
    expect(ports.every(({ protocol = '' }) => ['TCP', 'UDP'].includes(protocol))).toBe(true)
  }
})

test('callers reach no path that is for the operator', () => {
  const [ingress] = allOf<Ingress['spec']>('Ingress')
  const paths = ingress?.spec.rules?.flatMap(({ http }) => http?.paths ?? []) ?? []

  expect(paths.filter(({ pathType }) => pathType === 'Prefix').map(({ path }) => path)).toEqual([
    '/swap',
    '/docs',
    '/app',
  ])
  expect(
    paths.map(({ path }) => path).filter((path) => ['/', '/ready', '/metrics'].includes(path ?? '')),
  ).toEqual([])
})

test('upgrade.sh replaces the parts in the order that upgrade-test tries', () => {
  const script = read('deploy/kubernetes/upgrade.sh')
  const tried = /const ROLES: readonly Role\[\] = \[(.+)\]/.exec(read('test/upgrade/main.ts'))?.[1]
  const order = [
    ...script.matchAll(/^(?:replace (\S+)|apply app\.kubernetes\.io\/component=\w+)(?: (\w+))?$/gm),
  ]
  const replaced = order.flatMap(([, namespace, part]) => (part ? [{ namespace, part }] : []))

  expect(replaced.map(({ part }) => `'${part}'`)).toEqual([...new Set(tried?.split(', '))])
  expect(order[0]?.[0]).toBe('apply app.kubernetes.io/component=migrate')
  for (const { namespace, part } of replaced) expect(workloads.get(part)?.namespace).toBe(namespace)
})
