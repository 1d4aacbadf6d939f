import { useMemo } from 'preact/hooks'
import { KeyForm } from './key-form.tsx'
import { NotFound } from './not-found.tsx'
import { OperateApp } from './operate/operate-app.tsx'
import { useRoute } from './route.ts'
import { isRefused, useCatalog } from './service/catalog.ts'
import { connect } from './service/client.ts'
import { SessionContext } from './service/session.ts'
import type { Settings } from './service/settings.ts'
import { useKey } from './service/use-key.ts'
import { useSettings } from './service/use-settings.ts'
import { Shell } from './shell.tsx'
import { views } from './views.ts'
import { useWallets } from './wallets/use-wallets.ts'

/** On the operator's listener the page is the dashboard, elsewhere it is the page for callers. */
export function App() {
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
