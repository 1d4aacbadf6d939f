import { render } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { explain } from './explain.ts'
import { OperateApp } from './operate/operate-app.tsx'
import { NavLink } from './parts/links.tsx'
import { Problem } from './parts/notice.tsx'
import { SecretForm } from './parts/secret-form.tsx'
import { hrefOf, useRoute } from './route.ts'
import { isRefused, useCatalog } from './service/catalog.ts'
import { connect, isReachable, readSettings, type Settings } from './service/client.ts'
import { SessionContext } from './service/session.ts'
import { Shell } from './shell.tsx'
import { forget, keep, readSecret } from './storage.ts'
import { views } from './views.ts'
import { useWallets } from './wallets/use-wallets.ts'

/** On the operator's listener the page is the dashboard, elsewhere it is the page for callers. */
function App() {
  const settings = useSettings()
  const { view } = useRoute()
  if (settings?.operator) return <OperateApp localKey={settings.operator.key} />
  if (view === 'operate') return <NoDashboard />
  if (!views.some(({ name }) => name === view))
    return (
      <Shell>
        <NotFound />
      </Shell>
    )
  return <CallerApp settings={settings} />
}

function NoDashboard() {
  return (
    <Shell>
      <section class="card narrow">
        <h1>Operate</h1>
        <p>The dashboard is on the operator's own listener, not here.</p>
      </section>
    </Shell>
  )
}

/** Needs the settings, then a key, then the catalog, before it can show a view. */
function CallerApp({ settings }: { settings: Settings | undefined }) {
  const { key, setKey, forgetKey } = useKey(settings)
  const client = useMemo(
    () => (key === undefined || settings === undefined ? undefined : connect(key, settings)),
    [key, settings],
  )
  const { catalog, error } = useCatalog(client)
  const wallets = useWallets(settings)
  const onLeave = settings?.local || key === undefined ? undefined : forgetKey

  if (settings && (key === undefined || isRefused(error)))
    return (
      <Shell>
        <KeyForm onKey={setKey} error={error} />
      </Shell>
    )
  if (!settings || !client || !catalog)
    return (
      <Shell>
        <p class="loading" role="status">
          Loading chains and tokens…
        </p>
      </Shell>
    )
  return (
    <Shell onLeave={onLeave} wallets={wallets}>
      <SessionContext.Provider value={{ client, catalog, settings, wallets }}>
        <CurrentView />
      </SessionContext.Provider>
    </Shell>
  )
}

function CurrentView() {
  const { view } = useRoute()
  const Show = views.find(({ name }) => name === view)?.Show
  return Show ? <Show key={view} /> : null
}

/** Asks for the API key. It stays in this tab; only the browser's password manager can store it. */
function KeyForm({ onKey, error }: { onKey(key: string): void; error: unknown }) {
  return (
    <section class="card narrow">
      <h1>API key</h1>
      <p>Swaps belong to an API key. The operator of this service gives them out; they begin with gsk_.</p>
      {error ? <Problem explained={explain(error)} /> : null}
      <SecretForm label="Your key" onSecret={onKey}>
        <p class="hint">It is gone with this tab. Your password manager can keep it.</p>
      </SecretForm>
    </section>
  )
}

/** An address that no view has. */
function NotFound() {
  return (
    <section class="card narrow">
      <h1>There is nothing here</h1>
      <p class="prose">This address belongs to no part of the page. A swap is found by its id in Explore.</p>
      <div class="actions">
        <NavLink href={hrefOf('swap')} class="button primary">
          Go to the swap
        </NavLink>
        <NavLink href={hrefOf('explore')} class="button secondary">
          Explore
        </NavLink>
      </div>
    </section>
  )
}

const NAME = 'api-key'

/**
 * The API key: the user's, else that of the local network. It is never in a URL, and is gone with the tab.
 */
function useKey(settings: Settings | undefined) {
  const [given, setGiven] = useState(() => readSecret<string>(NAME))
  return {
    key: given ?? settings?.local?.apiKey,
    setKey(key: string) {
      keep(NAME, key)
      setGiven(key)
    },
    forgetKey() {
      forget(NAME)
      setGiven(undefined)
    },
  }
}

const RETRY_MS = 2_000

/** Undefined until the server has answered; the request is retried until then. */
function useSettings(): Settings | undefined {
  const [settings, setSettings] = useState<Settings>()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = () =>
      readSettings().then(
        (read) => {
          isReachable.set(true)
          setSettings(read)
        },
        () => {
          isReachable.set(false)
          timer = setTimeout(load, RETRY_MS)
        },
      )
    void load()
    return () => clearTimeout(timer)
  }, [])
  return settings
}

const root = document.getElementById('app')
if (!root) throw new Error('The page has no root element')
render(<App />, root)
