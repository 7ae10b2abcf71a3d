import { describe, expect, it } from 'vitest';
import { allPages, takenApart } from './markdown.ts';

const TEXT = `# A \`page\`, with [a link](other.md#part)

Inline \`a\\|b\`, and a [second](#twice-1).

<!-- not \`this\` -->

\`\`\`sh
npm ci  # \`not inline\`
\`\`\`

1. in a list

   \`\`\`yaml
   a:
     b: 1
   \`\`\`

## Twice

## Twice
`;

describe('takenApart', () => {
  it('finds blocks by language, inline code, links and anchors', () => {
    expect(takenApart(TEXT)).toEqual({
      text: TEXT,
      blocks: [
        { language: 'sh', content: 'npm ci  # `not inline`\n' },
        { language: 'yaml', content: 'a:\n  b: 1\n' },
      ],
      spans: ['page', 'a|b'],
      links: ['other.md#part', '#twice-1'],
      anchors: new Set(['a-page-with-a-link', 'twice', 'twice-1']),
    });
  });
});

describe('allPages', () => {
  it('finds guides, references, runbooks and decision records', () => {
    const files = allPages().map(({ file }) => file);
    expect(files).toEqual(
      expect.arrayContaining([
        'README.md',
        'docs/metrics.md',
        'docs/operating.md',
        'docs/runbooks/README.md',
        'docs/adr/0001-proof-of-completeness.md',
      ]),
    );
  });
});
