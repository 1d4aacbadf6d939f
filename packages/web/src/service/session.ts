import type { Client } from '@geoswap/sdk'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Wallets } from '../wallets/use-wallets.ts'
import type { Catalog } from './catalog.ts'
import type { Settings } from './client.ts'

/** The state that every view needs once the service has accepted a key. */
type Session = { client: Client; catalog: Catalog; settings: Settings; wallets: Wallets }

export const SessionContext = createContext<Session | undefined>(undefined)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('There is no session')
  return session
}
