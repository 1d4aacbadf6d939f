import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { USAGE } from '../packages/service/src/operate/usage.ts'
import { PARTS } from '../packages/service/src/store/grants.ts'
import { ROOT, readSources } from './sources.ts'

const FOLDER = join(ROOT, 'deploy')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const files = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
const all = files.map((file) => readFileSync(file, 'utf8')).join('\n')

const service = readSources().filter(({ path }) => /^packages\/service\/src\/(?!.*test)/.test(path))
const compose = read('deploy/compose.yaml')
const dockerfile = read('deploy/Dockerfile')

// Files that the operator creates: everything else that is mounted must be here.
const MADE_BY_THE_OPERATOR = ['./geoswap.json', './keystore/worker', './keystore/attester']

function allOf(pattern: RegExp, text: string): string[] {
  return [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''))]
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), path.startsWith('bin/') ? `#!/bin/sh\n${text}` : text, { mode: 0o755 })
}

test('every variable that the files set is read by the service', () => {
  const named = allOf(/\b((?:GEOSWAP|DATABASE|METRICS)_[A-Z_]+|HOST|PORT)\s*[:=]/g, all)
  const isRead = (name: string) =>
    service.some(({ text }) => text.includes(`'${name.replace(/_FILE$/, '')}'`))

  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((name) => !isRead(name))).toEqual([])
})

test('every command is one of the service', () => {
  const commands = [...allOf(/command: \["(\w+)"\]/g, compose), ...allOf(/service\.mjs (\w+)$/gm, all)]

  expect(commands).toEqual(expect.arrayContaining(['migrate', 'api', 'worker', 'attester']))
  for (const command of commands) expect(USAGE).toMatch(new RegExp(`\\n  service ${command} `))
})

test('every repository path in a file exists', () => {
  const copied = allOf(/^COPY (?:--from=install )?(?!--)(.+) \S+$/gm, dockerfile)
    .flatMap((paths) => paths.split(' '))
    .map((path) => path.replace('/app/', ''))
  const started = allOf(/(packages\/[\w./-]+\.(?:ts|mjs))/g, all)
  const built = /new URL\('\.\.\/(dist\/.+)', import/.exec(read('packages/service/scripts/build.ts'))?.[1]
  const mounted = allOf(/(\.\/[\w./-]+):\//g, compose).filter((path) => !MADE_BY_THE_OPERATOR.includes(path))

  expect([copied.length, started.length, mounted.length].every((count) => count > 0)).toBe(true)
  expect(started).toEqual([`packages/service/${built}`])
  expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  expect(mounted.filter((path) => !existsSync(join(FOLDER, path)))).toEqual([])
})

type Package = { name: string; dependencies?: Record<string, string>; scripts?: Record<string, string> }
const packages: Package[] = readdirSync(join(ROOT, 'packages')).map((name) =>
  JSON.parse(read(`packages/${name}/package.json`)),
)
const packageOf = (name: string) => packages.find((each) => each.name === name)

test('the image has every workspace package that the service needs, and the page at the expected path', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
  const needed = Object.keys(packageOf('@geoswap/service')?.dependencies ?? {}).filter((name) =>
    packageOf(name),
  )
  const copied = allOf(/^COPY --from=install \/app\/packages\/(\S+) packages\/\1$/gm, last)
  const built = /new URL\('(.+dist)', import/.exec(read('packages/web/scripts/build.ts'))?.[1]
  const served = /new URL\('(.+dist)', import/.exec(read('packages/service/src/compose/web.ts'))?.[1]
  const paths = [
    join('packages/web/scripts', built ?? ''),
    join('packages/service/src/compose', served ?? ''),
  ]

  expect(needed.length).toBeGreaterThan(1)
  expect(copied.map((name) => `@geoswap/${name}`)).toEqual(
    expect.arrayContaining([...needed, '@geoswap/service']),
  )
  expect(last).toContain(`COPY --from=page /app/${paths[0]} ${paths[1]}\n`)
})

test("every stage, package and script of the image's build exists", () => {
  const stages = allOf(/^FROM \S+ AS (\w+)$/gm, dockerfile)
  const scripts = [...dockerfile.matchAll(/npm run (\w+) --workspace (\S+)/g)]

  expect(allOf(/--from=(\w+)/g, dockerfile).filter((name) => !stages.includes(name))).toEqual([])
  expect(allOf(/--workspace (\S+)/g, dockerfile).filter((name) => !packageOf(name))).toEqual([])
  expect(scripts.map(([, script = '', name = '']) => packageOf(name)?.scripts?.[script])).toEqual([
    'tsx scripts/build.ts',
    'tsx scripts/build.ts',
  ])
})

test('every third-party image is pinned by its digest, and nothing starts without it', () => {
  const images = allOf(/^ {4}image: (.+)$/gm, compose)
  const bases = allOf(/^FROM (\S+)/gm, dockerfile)
  const pinned = allOf(/^pin (\w+ \S+)$/gm, read('deploy/pin-images.sh'))
  const named = [...images.map((image) => image.replaceAll('"', '')), ...bases].map((image) => {
    const [, name, variable] = /^([\w./-]+:[\w.-]+)@\$\{(\w+_DIGEST)(?::\?[^}]+)?\}$/.exec(image) ?? []
    return `${variable} ${name}`
  })

  expect(images.length).toBeGreaterThan(3)
  expect(new Set(named)).toEqual(new Set(pinned))
  expect(images.every((image) => image.includes(':?'))).toBe(true)
})

test('the port is that of the API everywhere', () => {
  const fallback = /'PORT', \{ default: ([\d_]+)/.exec(read('packages/service/src/config/load.ts'))?.[1]
  const port = fallback?.replace('_', '')

  expect(dockerfile).toContain(`PORT=${port}`)
  expect(dockerfile).toContain(`EXPOSE ${port}`)
  expect(compose).toMatch(new RegExp(`127\\.0\\.0\\.1:\\d+-\\d+:${port}"`))
  expect(read('deploy/prometheus.yaml')).toContain(`port: ${port}`)
})

describe('every unit', () => {
  const systemd = files.filter((file) => /\.(service|timer)$/.test(file))
  const named = systemd.filter((file) => file.includes('/systemd/'))
  const units = named.map((file) => readFileSync(file, 'utf8')).join('\n')
  const roles = ['api', 'attester', 'migrate', 'worker']
  const exampleOf = (role: string) => `deploy/systemd/${role}.env.example`

  test('is a valid unit of systemd', () => {
    const folder = mkdtempSync(join(tmpdir(), 'geoswap-units-'))
    for (const file of systemd)
      writeFileSync(
        join(folder, basename(file)),
        readFileSync(file, 'utf8').replace(/\/usr\/bin\/(node|pgbackrest)/, process.execPath),
      )

    const { error, stderr, status } = spawnSync(
      'systemd-analyze',
      ['verify', '--man=no', ...systemd.map((file) => join(folder, basename(file)))],
      { encoding: 'utf8' },
    )
    rmSync(folder, { recursive: true })

    // A machine without systemd checks the keys alone.
    const keys = allOf(/^(\w+)=/gm, units)
    expect(keys).toEqual(expect.arrayContaining(['User', 'EnvironmentFile', 'ExecStart', 'WantedBy']))
    if (!error) expect([status, stderr]).toEqual([0, ''])
  })

  test('has an example of the environment file that it reads', () => {
    const wanted = allOf(/^EnvironmentFile=\/etc\/geoswap\/(\S+)\.env$/gm, units)

    expect(wanted.sort()).toEqual(roles)
    expect(wanted.filter((role) => !existsSync(join(ROOT, exampleOf(role))))).toEqual([])
  })

  test('runs the built file as the user of its role, with its secrets in its own folder', () => {
    const made = allOf(/^u (\S+) - /gm, read('deploy/systemd/geoswap.sysusers.conf'))

    expect(allOf(/^User=(\S+)$/gm, units).sort()).toEqual(made.sort())
    for (const file of named) {
      const unit = readFileSync(file, 'utf8')
      const [role] = allOf(/^ExecStart=\/usr\/bin\/node packages\/service\/dist\/service\.mjs (\w+)$/gm, unit)
      expect(unit).toContain(`User=geoswap-${role}\nGroup=geoswap-${role}\n`)
      expect(unit).toContain(`EnvironmentFile=/etc/geoswap/${role}.env\n`)
    }
    for (const role of roles) {
      const paths = allOf(/=(\/etc\/geoswap\/\S+)$/gm, read(exampleOf(role)))
      const own = new RegExp(`^/etc/geoswap/(secrets/${role}/|keystore/${role}$)`)
      expect(paths.length).toBeGreaterThan(0)
      expect(paths.filter((path) => !own.test(path))).toEqual([])
    }
  })

  test('finds its settings, secrets and keys where the installation puts them, for every attester', () => {
    const folder = mkdtempSync(join(tmpdir(), 'geoswap-install-'))
    const placed = (...path: string[]) => join(folder, 'root', ...path)
    const textOf = (...path: string[]) => readFileSync(placed(...path), 'utf8')
    const parts = ['worker', 'attester', 'attester_2', 'attester_3']
    for (const part of parts) write(folder, `deploy/keystore/${part}/key`, part)
    for (const part of parts) write(folder, `deploy/secrets/${part}_passphrase`, part)
    for (const part of [...parts, 'api', 'owner']) write(folder, `deploy/secrets/${part}_database_url`, part)
    for (const file of ['secrets/seal_keys', 'geoswap.json']) write(folder, `deploy/${file}`, file)
    // Neither root nor the users exist here.
    write(
      folder,
      'bin/install',
      'skip=\n' +
        'for each; do shift; case $each in -o | -g) skip=1 ;; ' +
        '*) [ $skip ] && skip= || set -- "$@" "$each" ;; esac; done\nexec /usr/bin/install "$@"\n',
    )
    write(folder, 'bin/systemctl', 'exit 0\n')
    write(folder, 'bin/systemd-sysusers', 'exit 0\n')
    const env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, DESTDIR: placed() }

    const { status, stdout, stderr } = spawnSync(
      'sh',
      [join(ROOT, 'deploy/systemd/install.sh'), join(folder, 'deploy')],
      { cwd: ROOT, env, encoding: 'utf8' },
    )

    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('geoswap-attester geoswap-attester-2 geoswap-attester-3')
    for (const role of [...roles, 'attester-2', 'attester-3']) {
      const paths = allOf(/^\w+=(\/etc\/geoswap\/\S+)$/gm, textOf(`etc/geoswap/${role}.env`))
      const own = new RegExp(`^/etc/geoswap/(secrets|keystore)/${role}(/|$)`)
      expect(paths.filter((path) => !own.test(path) || !existsSync(placed(path)))).toEqual([])
    }
    for (const number of [2, 3]) {
      const unit = textOf(`etc/systemd/system/geoswap-attester-${number}.service`)
      expect(unit).toContain(`User=geoswap-attester-${number}\nGroup=geoswap-attester-${number}\n`)
      expect(unit).toContain(`EnvironmentFile=/etc/geoswap/attester-${number}.env\n`)
      expect(unit).toContain('packages/service/dist/service.mjs attester\n')
      expect(textOf(`usr/lib/sysusers.d/geoswap-attester-${number}.conf`)).toContain(
        `u geoswap-attester-${number} - `,
      )
      expect(textOf(`etc/geoswap/keystore/attester-${number}/key`)).toBe(`attester_${number}`)
      expect(textOf(`etc/geoswap/secrets/attester-${number}/database_url`)).toBe(`attester_${number}`)
      expect(textOf(`etc/geoswap/attester-${number}.env`)).toContain(`METRICS_PORT=${9464 - number}\n`)
    }
    rmSync(folder, { recursive: true })
  })

  test('of API and worker can run several times, each on the port of its instance', () => {
    const unitOf = (name: string) => read(`deploy/systemd/geoswap-${name}.service`)

    expect(unitOf('api@')).toContain('Environment=PORT=%i\n')
    expect(unitOf('worker@')).toContain('Environment=METRICS_PORT=%i\n')
    expect(unitOf('attester')).not.toContain('%i')
    // An environment file takes precedence over the unit.
    for (const role of ['api', 'worker']) expect(read(exampleOf(role))).not.toMatch(/PORT=/)
    expect(read(exampleOf('api'))).toContain('\nHOST=')
    for (const role of ['worker', 'attester']) expect(read(exampleOf(role))).toMatch(/^METRICS_HOST=/m)
  })

  test('writes no dump of a process, which would hold its keys', () => {
    for (const name of ['api@', 'worker@', 'attester', 'migrate'])
      expect(read(`deploy/systemd/geoswap-${name}.service`)).toContain('\nLimitCORE=0\n')
  })

  test('is scraped, as the manual says', () => {
    const [attester] = allOf(/^METRICS_PORT=(\d+)$/gm, read(exampleOf('attester')))
    const started = allOf(/geoswap-(?:api|worker)@(\d+)/g, read('docs/going-live.md'))

    expect(started.length).toBeGreaterThan(2)
    for (const port of [...started, attester])
      expect(read('docs/going-live.md')).toContain(`"127.0.0.1:${port}"`)
  })
})

test('keys of providers have a place that git ignores, and an example', () => {
  const { services } = parse(compose, { merge: true })
  const placesOf = (name: string) => services[name].env_file.map(({ path }: { path: string }) => path)
  const files = [...new Set(['api', 'worker', 'operator', 'attester'].flatMap(placesOf))]

  expect(files).toEqual(['./nodes.env', './attester-nodes.env'])
  expect(placesOf('worker')).not.toEqual(placesOf('attester'))
  expect(read('deploy/nodes.env.example')).toContain('GEOSWAP_PYTH_API_KEY=')
  for (const file of files as string[]) {
    expect(existsSync(join(FOLDER, `${file}.example`))).toBe(true)
    expect(spawnSync('git', ['check-ignore', '-q', join('deploy', file)], { cwd: ROOT }).status).toBe(0)
  }
})

describe('compose.yaml', () => {
  const { services, volumes, secrets, networks } = parse(compose, { merge: true })
  type Service = {
    volumes?: string[]
    secrets?: string[]
    depends_on?: Record<string, { condition: string }>
  }
  const all = Object.values(services) as Service[]

  test('declares every volume, secret and service that it uses', () => {
    const mounted = all
      .flatMap((service) => service.volumes ?? [])
      .map((volume) => volume.split(':')[0] ?? '')
    const kept = mounted.filter((source) => !source.startsWith('.'))

    expect(kept.filter((name) => !(name in volumes))).toEqual([])
    expect(Object.keys(volumes).filter((name) => !kept.includes(name))).toEqual([])
    expect(all.flatMap((service) => service.secrets ?? []).filter((name) => !(name in secrets))).toEqual([])
    expect(
      all.flatMap((service) => Object.keys(service.depends_on ?? {})).filter((name) => !(name in services)),
    ).toEqual([])
  })

  test('lets callers in through the balancer alone, which the API believes', () => {
    const open = Object.entries(services as Record<string, { ports?: string[] }>)
      .filter(([, { ports = [] }]) => ports.some((port) => !port.startsWith('127.0.0.1:')))
      .map(([name]) => name)
    const [{ subnet }] = networks.default.ipam.config
    const caddyfile = read('deploy/Caddyfile')

    expect(open).toEqual(['balancer'])
    expect(services.api.environment.GEOSWAP_TRUSTED_PROXIES).toBe(subnet)
    expect(caddyfile).toContain('{$PUBLIC_DOMAIN} {')
    expect(caddyfile).toMatch(/@internal path \/metrics \/ready/)
    expect(caddyfile).toMatch(/name api\n\s+port 8080/)
  })

  test('dumps the database as its owner, and shows its figures to Prometheus', () => {
    const { scrape_configs } = parse(read('deploy/prometheus.yaml'))
    const jobs: string[] = scrape_configs.map(({ job_name }: { job_name: string }) => job_name)

    expect(services.backup.secrets).toEqual(['owner_database_url'])
    expect(read('deploy/postgres/backup.sh')).toContain('pg_dump --format=custom')
    expect(jobs).toEqual(['geoswap', 'postgres'])
    expect(read('deploy/postgres/roles.sh')).toContain(
      `grant pg_monitor to ${services.exporter.environment.DATA_SOURCE_USER}`,
    )
  })
})

test('every part of the manual that a file points to is there', () => {
  const pointers = [...all.matchAll(/(docs\/[\w/-]+\.md), "([^"]+)"/g)]

  expect(pointers.length).toBeGreaterThan(0)
  for (const [, page = '', title = ''] of pointers)
    expect(read(page)).toMatch(new RegExp(`^#+ ${title}$`, 'm'))
})

test('an alert of any severity is sent from Prometheus to a receiver', () => {
  const { alerting } = parse(read('deploy/prometheus.yaml'))
  const { route, receivers } = parse(read('deploy/alertmanager.yaml'))
  const severities = allOf(/severity: (\w+)/g, read('deploy/alerts.yaml'))
  const routed = route.routes.map(({ matchers }: { matchers: string[] }) => matchers[0])
  const target: string = alerting.alertmanagers[0].static_configs[0].targets[0]

  expect(compose).toContain(`\n  ${target.split(':')[0]}:\n`)
  expect(routed).toEqual(severities.map((severity) => `severity = "${severity}"`))
  expect(receivers.map(({ name }: { name: string }) => name)).toContain(route.receiver)
  expect(compose).toContain('secrets: [alert_url]')
})

test('the manual names each secret that compose.yaml mounts', () => {
  const secrets = allOf(/\{ file: \.\/secrets\/(\w+) \}/g, compose)

  expect(secrets.length).toBeGreaterThan(5)
  expect(secrets.filter((name) => !read('docs/going-live.md').includes(`\`${name}\``))).toEqual([])
})

describe('the processes of compose.yaml', () => {
  const blocks = new Map(
    [...compose.matchAll(/^ {2}(\w+):\n((?: {4}.*\n|\n)+)/gm)].map((match) => [
      match[1] ?? '',
      match[2] ?? '',
    ]),
  )

  test.each(['migrate', 'operator', 'api', 'worker', 'attester', 'backup', 'exporter', 'grafana'])(
    '%s gets each secret that it uses, and no other',
    (name) => {
      const block = blocks.get(name) ?? ''
      const used = allOf(/\/run\/secrets\/(\w+)/g, block)
      const given = /secrets: \[(.*)\]/.exec(block)?.[1]?.split(', ')

      expect(given?.sort()).toEqual(used.sort())
      for (const secret of used) expect(compose).toContain(`  ${secret}: { file: ./secrets/${secret} }`)
    },
  )

  test('each uses the database with its own role, which roles.sh creates', () => {
    const parts = ['owner', 'api', 'worker', 'attester', 'operator']
    const urls = ['migrate', 'api', 'worker', 'attester', 'operator'].map(
      (name) => /DATABASE_URL_FILE: \/run\/secrets\/(\w+)_database_url\n/.exec(blocks.get(name) ?? '')?.[1],
    )
    const script = read('deploy/postgres/roles.sh')

    expect(urls).toEqual(parts)
    expect(script).toContain(`for part in ${PARTS.join(' ')}; do`)
    for (const part of parts) expect(blocks.get('postgres')).toContain(`- ${part}_database_url\n`)
  })

  test('the dashboard of Grafana needs its password', () => {
    expect(blocks.get('grafana')).toContain('GF_SECURITY_ADMIN_PASSWORD__FILE: /run/secrets/grafana_password')
    expect(blocks.get('grafana')).toContain('GF_AUTH_ANONYMOUS_ENABLED: "false"')
  })

  test('the API has no keystore', () => {
    expect(blocks.get('api')).toContain('GEOSWAP_SEAL_KEYS_FILE')
    expect(blocks.get('api')).not.toMatch(/KEYSTORE|RELAYER|DELIVERER|ATTESTER|SOLANA/)
  })

  test('every one has a read-only root and no capabilities', () => {
    expect(compose).toMatch(
      /x-service: &service[\s\S]*read_only: true[\s\S]*cap_drop: \[ALL\][\s\S]*services:/,
    )
    for (const name of ['migrate', 'api', 'worker', 'attester'])
      expect(blocks.get(name)).toContain('<<: *service')
    expect(dockerfile).toMatch(/^USER node$/m)
  })
})
