import { html, render } from '../../lambda/adapters/html/html.ts';

/** Where else a person may want to look. */
export type Links = Readonly<Record<string, string>>;

/** The page without what changes; its script fetches that. */
export const opsPage = (links: Links): string =>
  render(
    html`<!doctype html>
      <html lang="en">
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Mail dispatch: operations</title>
        <link rel="stylesheet" href="/ops/page.css" />
        <header>
          <h1>Mail dispatch: operations</h1>
          ${Object.entries(links).map(([name, address]) => html`<a href="${address}">${name}</a>`)}
        </header>
        <p id="lost" class="wrong" role="alert"></p>
        <main>
          <div id="widget">Asking …</div>
          <p id="said" role="status"></p>
          <div id="state"></div>
        </main>
        <script type="module" src="/ops/page.js"></script>
      </html> `,
  );
